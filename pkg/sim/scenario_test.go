package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
)

// TestScenarios runs the files under testdata/scenarios and testdata/histories: commands and what they
// print. See testdata/README.md. Rewrite them with -rewrite, and read the diff.
func TestScenarios(t *testing.T) {
	for _, dir := range []string{"testdata/scenarios", "testdata/histories"} {
		datadriven.Walk(t, dir, runScenario)
	}
}

func runScenario(t *testing.T, path string) {
	s := &scenario{}
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		out := s.run(t, d)
		if s.world != nil && len(s.world.checker().Violations) > 0 {
			t.Errorf("%s: broken invariants:\n%s", d.Pos, strings.Join(s.world.checker().Violations, "\n"))
		}
		return out
	})
}

// TestScenariosAreReproducible runs every scenario twice with the same seed: the
// whole trace is the same.
func TestScenariosAreReproducible(t *testing.T) {
	run := func(t *testing.T, seed uint64) string {
		w := newChecked(Options{Seed: seed})
		script := Script{{Index: -1, Act: Act{Run: 300 * time.Millisecond}}, {Index: 1, Attempt: 1, Act: Act{Run: time.Second, Exit: 1}}}
		if err := w.CreateJob("a", indexedSpec(8, 4), script); err != nil {
			t.Fatal(err)
		}
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

func indexedSpec(completions, parallelism int32) batchv1.JobSpec {
	mode := batchv1.IndexedCompletion
	return batchv1.JobSpec{CompletionMode: &mode, Completions: &completions, Parallelism: &parallelism}
}
