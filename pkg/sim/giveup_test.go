package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// A World whose controller never becomes idle gives up eventually, whether or not the controller writes, and whether or
// not time passes.
func TestWorldGivesUp(t *testing.T) {
	never := func() bool { return false }
	for name, c := range map[string]struct {
		begin   func(sim.Options) *checker.World
		options sim.Options
		spoil   func(*checker.World)
		gives   bool
	}{
		"writes":                     {unchecked, sim.Options{MaxWrites: 20}, func(*checker.World) {}, true},
		"writes, checked":            {checker.NewWorld, sim.Options{MaxWrites: 20}, func(*checker.World) {}, true},
		"writes, and no limit":       {unchecked, sim.Options{}, func(*checker.World) {}, false},
		"enough":                     {checker.NewWorld, sim.Options{MaxWrites: 1000}, func(*checker.World) {}, false},
		"no writes, and no time":     {checker.NewWorld, sim.Options{MaxWrites: 1000}, spin, true},
		"no time, and not checked":   {unchecked, sim.Options{MaxWrites: 1000}, spin, true},
		"calls that fail every time": {checker.NewWorld, sim.Options{MaxWrites: 20, Fault: func(sim.Call) sim.Fault { return sim.Fault{Kind: sim.Fail} }}, func(*checker.World) {}, true},
	} {
		w := c.begin(c.options)
		scenario.Must(w.CreateJob("a", scenario.IndexedSpec(20, 20), sim.Script{{Index: -1, Act: sim.Act{Run: time.Second}}}))
		c.spoil(w)
		if w.RunUntil(never, time.Hour) {
			t.Errorf("%s: what never happens has happened", name)
		}
		gave := w.GaveUp()
		if gave != c.gives || !gave && !w.Finished("a") {
			t.Errorf("%s: gave up: %q, finished: %v", name, sim.WhyGaveUp(w.World), w.Finished("a"))
		}
		if w.Checker == nil {
			continue
		}
		broken := w.Checker.Violations
		if gave && (len(broken) != 1 || !strings.Contains(broken[0], "L1")) || !gave && len(broken) > 0 {
			t.Errorf("%s: gave up: %q, violations %q", name, sim.WhyGaveUp(w.World), broken)
		}
	}
}

// spin schedules events at the current time without end.
func spin(w *checker.World) { w.After(0, func() { spin(w) }) }

// unchecked returns a World without a Checker.
func unchecked(o sim.Options) *checker.World { return &checker.World{World: sim.NewWorld(o)} }
