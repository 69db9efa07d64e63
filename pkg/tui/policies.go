package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/canvas"
)

// policiesPane shows the failure policy, the success criteria, and the limits.
type policiesPane struct {
	scroll scroll
}

func newPoliciesPane() *policiesPane { return &policiesPane{} }

func (o *policiesPane) key(k tea.KeyPressMsg, _ *data) (action, bool) {
	return action{}, o.scroll.handle(k)
}

func (o *policiesPane) wheel(lines int, _ *data) { o.scroll.move(lines) }

func (o *policiesPane) keys() []keyGroup { return nil }

func (o *policiesPane) body(p *paint) []canvas.Line { return nil }
