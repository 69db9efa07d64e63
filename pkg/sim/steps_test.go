package sim_test

import (
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// Requirements: STO-05. The steps that the ledger of storms counts are the events that were carried out.
func TestStepsAreEvents(t *testing.T) {
	w := checker.NewWorld(sim.Options{Seed: 1})
	scenario.Must(w.CreateJob("a", scenario.IndexedSpec(3, 2), nil))
	steps, end := uint64(0), w.Now().Add(time.Hour)
	for sim.Step(w.World, end) {
		steps++
	}
	if got := w.Steps(); got != steps || steps < 20 {
		t.Errorf("%d steps, %d are counted", steps, got)
	}
}
