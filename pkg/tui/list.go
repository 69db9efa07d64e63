package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// list is a cursor in n rows, of which some are on the screen.
type list struct {
	cursor, top int
	n, height   int
	// key names the chosen row, so that the cursor stays with it when rows come and go.
	key string
}

// resize says how many rows there are, and how many fit on the screen. keyOf names a row.
func (l *list) resize(n, height int, keyOf func(int) string) {
	l.n, l.height = n, max(1, height)
	if l.key != "" && keyOf != nil && (l.cursor >= n || keyOf(l.cursor) != l.key) {
		for i := range n {
			if keyOf(i) == l.key {
				l.cursor = i
				break
			}
		}
	}
	l.clamp()
	if keyOf != nil && n > 0 {
		l.key = keyOf(l.cursor)
	}
}

// move goes so many rows down, and forgets the name of the row.
func (l *list) move(by int) {
	l.cursor += by
	l.key = ""
	l.clamp()
}

func (l *list) clamp() {
	l.cursor = max(0, min(l.cursor, l.n-1))
	switch {
	case l.cursor < l.top:
		l.top = l.cursor
	case l.cursor >= l.top+l.height:
		l.top = l.cursor - l.height + 1
	}
	l.top = max(0, min(l.top, l.n-l.height))
}

// handle moves by the keys of lists, and says whether it was one.
func (l *list) handle(k tea.KeyPressMsg) bool {
	by, known := stepOf(k, l.n, l.height)
	if known {
		l.move(by)
	}
	return known
}

// stepOf is how many of n rows a key goes down, where height of them are on the screen.
func stepOf(k tea.KeyPressMsg, n, height int) (by int, known bool) {
	page := max(1, height-1)
	switch {
	case matches(k, keyUp):
		return -1, true
	case matches(k, keyDown):
		return 1, true
	case matches(k, keyPageUp):
		return -page, true
	case matches(k, keyPageDown):
		return page, true
	case matches(k, keyTop):
		return -n, true
	case matches(k, keyBottom):
		return n, true
	}
	return 0, false
}

// scroll is the top line of text that is longer than the screen.
type scroll struct {
	top       int
	n, height int
}

func (s *scroll) resize(n, height int) {
	s.n, s.height = n, max(1, height)
	s.top = max(0, min(s.top, n-s.height))
}

// visible is the part of lines that is on the screen.
func (s *scroll) visible(lines []layout.Line, height int) []layout.Line {
	s.resize(len(lines), height)
	first, end := rows(len(lines), s.top, height)
	return lines[first:end]
}

// page is the part of lines that is on the screen. Its last line says how many are below.
func (s *scroll) page(p *paint, lines []layout.Line) []layout.Line {
	shown := slices.Clone(s.visible(lines, p.height))
	rest, last := len(lines)-s.top-len(shown), len(shown)-1
	if rest == 0 || last < 0 {
		return shown
	}
	more := func(n int) layout.Line {
		return layout.Of(layout.Textf(layout.Accent, "  %s %d more", p.Glyphs.Down, n))
	}
	if note := more(rest); last == 0 || shown[last].Width()+note.Width() <= p.Width {
		shown[last] = layout.Spread(p.Width, shown[last], note, p.Glyphs.Ellipsis)
		return shown
	}
	shown[last] = layout.Spread(p.Width, nil, more(rest+1), p.Glyphs.Ellipsis)
	return shown
}

func (s *scroll) move(by int) { s.top = max(0, min(s.top+by, s.n-s.height)) }

// handle scrolls by the keys of lists, and says whether it was one.
func (s *scroll) handle(k tea.KeyPressMsg) bool {
	by, known := stepOf(k, s.n, s.height)
	if known {
		s.move(by)
	}
	return known
}
