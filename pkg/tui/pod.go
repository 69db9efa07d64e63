package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// podScreen is one pod, or one index, with its attempts and logs.
type podScreen struct {
	scroll scroll
}

func newPodScreen(job snapshot.JobKey, pod string, index *int32) *podScreen { return &podScreen{} }

func (o *podScreen) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	return action{}, o.scroll.handle(k)
}

func (o *podScreen) wheel(lines int, _ *data) { o.scroll.move(lines) }

func (o *podScreen) keys() []keyGroup { return nil }

func (o *podScreen) body(p *paint) []canvas.Line { return nil }

func (o *podScreen) focus() snapshot.Focus { return snapshot.Focus{} }
func (o *podScreen) crumb() string         { return "pod" }
