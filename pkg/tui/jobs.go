package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// jobsScreen is the list of Jobs.
type jobsScreen struct {
	scroll scroll
}

func newJobsScreen(what string) *jobsScreen { return &jobsScreen{} }

func (o *jobsScreen) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	return action{}, o.scroll.handle(k)
}

func (o *jobsScreen) wheel(lines int, _ *data) { o.scroll.move(lines) }

func (o *jobsScreen) keys() []keyGroup { return nil }

func (o *jobsScreen) body(p *paint) []canvas.Line { return nil }

func (o *jobsScreen) focus() snapshot.Focus { return snapshot.Focus{} }
func (o *jobsScreen) crumb() string         { return "Jobs" }
