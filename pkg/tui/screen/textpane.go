package screen

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// TextPane is text that is scrolled.
type TextPane struct {
	Lines func(*widget.Paint, *Data) []layout.Line
	// ShowsRest adds to the last line how many lines are below it.
	ShowsRest bool
	scroll    widget.Scroll
}

// Key scrolls.
func (o *TextPane) Key(k tea.KeyPressMsg, _ *Data) (Action, bool) {
	return Action{}, o.scroll.Key(k)
}

// Wheel scrolls.
func (o *TextPane) Wheel(lines int, _ *Data) { o.scroll.Move(lines) }

// Keys are only those that scroll, which all panes have.
func (o *TextPane) Keys() []widget.KeyGroup { return nil }

// Body is the part of the text that fits.
func (o *TextPane) Body(p *widget.Paint, d *Data) []layout.Line {
	lines := o.Lines(p, d)
	if o.ShowsRest {
		return o.scroll.Page(p, lines)
	}
	return o.scroll.Visible(lines, p.Height)
}
