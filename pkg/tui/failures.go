package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
)

// failuresPane lists the causes of failures.
type failuresPane struct {
	scroll scroll
}

func newFailuresPane(_ *jobScreen) *failuresPane { return &failuresPane{} }

func (o *failuresPane) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	return action{}, o.scroll.handle(k)
}

func (o *failuresPane) wheel(lines int, _ *data) { o.scroll.move(lines) }

func (o *failuresPane) keys() []keyGroup { return nil }

func (o *failuresPane) body(p *paint) []canvas.Line { return nil }
