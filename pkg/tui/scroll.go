package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

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
