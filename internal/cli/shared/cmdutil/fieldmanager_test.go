package cmdutil

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// MGB-12, MGB-13: explanations recognize the controller by the name of its field manager.
func TestExplanationsKnowTheFieldManager(t *testing.T) {
	assert.Equal(t, explain.OurFieldManager, controller.FieldManager)
}
