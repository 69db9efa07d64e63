package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
)

// podsPane lists the pods of the Job.
type podsPane struct {
	scroll scroll
}

func newPodsPane(_ *jobScreen) *podsPane { return &podsPane{} }

func (o *podsPane) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	return action{}, o.scroll.handle(k)
}

func (o *podsPane) wheel(lines int, _ *data) { o.scroll.move(lines) }

func (o *podsPane) keys() []keyGroup { return nil }

func (o *podsPane) body(p *paint) []canvas.Line { return nil }
