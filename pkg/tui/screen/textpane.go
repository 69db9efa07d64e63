package screen

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// TextPane is scrollable text.
type TextPane struct {
	Lines func(*widget.Paint, *Data) []layout.Line
	// ShowsRest appends the number of lines below to the last line.
	ShowsRest bool
	scroll    widget.Scroll
}

// Key handles the scroll keys.
func (o *TextPane) Key(k tea.KeyPressMsg, _ *Data) (Action, bool) {
	return Action{}, o.scroll.Key(k)
}

// Wheel scrolls.
func (o *TextPane) Wheel(lines int, _ *Data) { o.scroll.Move(lines) }

// Keys returns nil: a TextPane has only the scroll keys, like all panes.
func (o *TextPane) Keys() []widget.KeyGroup { return nil }

// Body returns the visible part of the text.
func (o *TextPane) Body(p *widget.Paint, d *Data) []layout.Line {
	lines := o.Lines(p, d)
	if o.ShowsRest {
		return o.scroll.Page(p, lines)
	}
	return o.scroll.Visible(lines, p.Height)
}
