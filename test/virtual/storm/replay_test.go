package storm

import (
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// TestDrawnFaultsAreReplayed plays storms, and replays them with the drawn faults as commands: the result is the
// same, so every violation can be stored as a scenario file.
// Requirements: STO-02
func TestDrawnFaultsAreReplayed(t *testing.T) {
	files := stormFiles(t)
	for seed := range scenario.FewerSeeds(200) {
		first := newStorm(seed, files)
		prepared := map[*datadriven.TestData]*batchv1.Job{}
		drawn := first.playCommands(t, first.commands(prepared), prepared, true)
		again := *first
		again.dice, again.faults = nil, drawn.faults
		if replayed := again.playCommands(t, again.commands(nil), nil, true); replayed.trace != drawn.trace {
			t.Fatalf("seed %d:\n%s", seed, firstDifference(drawn.trace, replayed.trace))
		}
	}
}

// firstDifference returns the first lines that differ, and some lines before them.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return strings.Join(x[max(0, i-10):i], "\n") + "\nfirst:  " + x[i] + "\nthen:   " + y[i]
		}
	}
	return "one is longer"
}

// TestStormsAreShrunk shrinks a storm in which a controller crashes and a pod is evicted to one fault or restart,
// one eviction, which may be one of the Job's own, and at most one Job.
// Requirements: STO-04
func TestStormsAreShrunk(t *testing.T) {
	files := stormFiles(t)
	shows := func(p played) bool { return p.kinds["evict"] > 0 && p.processes > 1 }
	for seed := uint64(0); ; seed++ {
		storm := newStorm(seed, files)
		out := storm.play(t)
		if storm.file != "" || len(out.faults) < 3 || len(storm.actions) < 3 || !shows(out) {
			continue
		}
		small := shrinkTo(t.Context(), t, storm, out, shows)
		isOther := func(d *datadriven.TestData) bool { return d.Cmd != "evict" }
		evictions := len(slices.DeleteFunc(slices.Clone(small.commands(nil)), isOther))
		others := len(small.faults) + len(slices.DeleteFunc(slices.Clone(small.actions), func(d *datadriven.TestData) bool { return !isOther(d) }))
		if evictions != 1 || others != 1 || len(small.jobs) > 1 {
			t.Errorf("seed %d: %s", seed, scenario.File("", small.commands(nil)))
		}
		return
	}
}
