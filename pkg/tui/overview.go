package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
)

// overviewPane is what matters of a Job on one screen.
type overviewPane struct {
	scroll scroll
}

func newOverviewPane(_ *jobScreen) *overviewPane { return &overviewPane{} }

func (o *overviewPane) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	return action{}, o.scroll.handle(k)
}

func (o *overviewPane) wheel(lines int, _ *data) { o.scroll.move(lines) }

func (o *overviewPane) keys() []keyGroup { return nil }

func (o *overviewPane) body(p *paint) []canvas.Line { return nil }
