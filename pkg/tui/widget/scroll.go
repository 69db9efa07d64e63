package widget

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Scroll is the scroll position in a text that may be longer than the screen.
type Scroll struct {
	Top         int
	Len, Height int
}

// Resize sets the number of lines, and the number that fits on the screen.
func (s *Scroll) Resize(n, height int) {
	s.Len, s.Height = n, max(1, height)
	s.Top = max(0, min(s.Top, n-s.Height))
}

// Visible returns the visible part of lines.
func (s *Scroll) Visible(lines []layout.Line, height int) []layout.Line {
	s.Resize(len(lines), height)
	first, end := Rows(len(lines), s.Top, height)
	return lines[first:end]
}

// Page returns the visible part of lines. The last line also shows the number of lines below.
func (s *Scroll) Page(p *Paint, lines []layout.Line) []layout.Line {
	shown := slices.Clone(s.Visible(lines, p.Height))
	rest, last := len(lines)-s.Top-len(shown), len(shown)-1
	if rest == 0 || last < 0 {
		return shown
	}
	more := func(n int) layout.Line {
		return layout.Of(layout.Textf(layout.Accent, "  %s %s", p.Glyphs.Down, wording.Count(n, "more")))
	}
	if note := more(rest); last == 0 || shown[last].Width()+note.Width() <= p.Width {
		shown[last] = layout.Spread(p.Width, shown[last], note, p.Glyphs.Ellipsis)
		return shown
	}
	shown[last] = layout.Spread(p.Width, nil, more(rest+1), p.Glyphs.Ellipsis)
	return shown
}

// Move scrolls down by the given number of lines.
func (s *Scroll) Move(by int) { s.Top = max(0, min(s.Top+by, s.Len-s.Height)) }

// Reveal scrolls to a line if it is not visible, so that it is in the middle.
func (s *Scroll) Reveal(line int) {
	if line < s.Top || line >= s.Top+s.Height {
		s.Top = line - s.Height/2
		s.Move(0)
	}
}

// Key handles the scroll keys. It returns false for other keys.
func (s *Scroll) Key(k tea.KeyPressMsg) bool {
	by, known := StepOf(k, s.Len, s.Height)
	if known {
		s.Move(by)
	}
	return known
}
