package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// TestScenarios runs the files in testdata/scenarios: commands and their output. See testdata/README.md. Update them
// with -rewrite, and review the diff.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := &scenario.Runner{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := s.Run(t, d)
			if s.World != nil && len(s.World.Checker.Violations) > 0 {
				t.Errorf("%s: broken invariants:\n%s", d.Pos, strings.Join(s.World.Checker.Violations, "\n"))
			}
			return out
		})
	})
}

// TestScenariosAreReproducible runs every scenario twice with the same seed: the whole trace is the same.
func TestScenariosAreReproducible(t *testing.T) {
	run := func(t *testing.T, seed uint64) string {
		w := checker.NewWorld(sim.Options{Seed: seed})
		script := sim.Script{{Index: -1, Act: sim.Act{Run: 300 * time.Millisecond}}, {Index: 1, Attempt: 1, Act: sim.Act{Run: time.Second, Exit: 1}}}
		assert.NoError(t, w.CreateJob("a", scenario.IndexedSpec(8, 4), script))
		if !w.RunUntil(func() bool { return w.Finished("a") }, time.Hour) {
			t.Fatal("not finished")
		}
		return w.Trace()
	}
	different := false
	for seed := range uint64(20) {
		first, second := run(t, seed), run(t, seed)
		if first != second {
			t.Fatalf("seed %d:\n%s\nand then\n%s", seed, first, second)
		}
		different = different || first != run(t, seed+1)
	}
	if !different {
		t.Error("the seed changes nothing")
	}
}
