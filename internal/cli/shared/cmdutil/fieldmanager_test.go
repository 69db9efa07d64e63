package cmdutil

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// MGB-12, MGB-13: explanations recognize the controller by the name of its field manager.
func TestExplanationsKnowTheFieldManager(t *testing.T) {
	if explain.OurFieldManager != controller.FieldManager {
		t.Errorf("%s, not %s", explain.OurFieldManager, controller.FieldManager)
	}
}
