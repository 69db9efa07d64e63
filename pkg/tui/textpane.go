package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// textPane is text that is scrolled.
type textPane struct {
	text func(*paint, *data) []layout.Line
	// counts has the last line say how many lines are below it.
	counts bool
	scroll scroll
}

func (o *textPane) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	return action{}, o.scroll.handle(k)
}

func (o *textPane) wheel(lines int, _ *data) { o.scroll.move(lines) }

func (o *textPane) keys() []keyGroup { return nil }

func (o *textPane) body(p *paint, d *data) []layout.Line {
	lines := o.text(p, d)
	if o.counts {
		return o.scroll.page(p, lines)
	}
	return o.scroll.visible(lines, p.height)
}
