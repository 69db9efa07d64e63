package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// explainScreen is the explanation of a Job.
type explainScreen struct {
	scroll scroll
}

func newExplainScreen(job snapshot.JobKey) *explainScreen { return &explainScreen{} }

func (o *explainScreen) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	return action{}, o.scroll.handle(k)
}

func (o *explainScreen) wheel(lines int, _ *data) { o.scroll.move(lines) }

func (o *explainScreen) keys() []keyGroup { return nil }

func (o *explainScreen) body(p *paint) []canvas.Line { return nil }

func (o *explainScreen) focus() snapshot.Focus { return snapshot.Focus{} }
func (o *explainScreen) crumb() string         { return "Explain" }
