package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
)

// timelinePane tells what happened, in order.
type timelinePane struct {
	scroll scroll
}

func newTimelinePane() *timelinePane { return &timelinePane{} }

func (o *timelinePane) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	return action{}, o.scroll.handle(k)
}

func (o *timelinePane) wheel(lines int, _ *data) { o.scroll.move(lines) }

func (o *timelinePane) keys() []keyGroup { return nil }

func (o *timelinePane) body(p *paint) []canvas.Line { return nil }
