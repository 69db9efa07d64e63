package sim

import (
	"strings"
	"testing"
	"time"
)

// A world whose controller never becomes idle does not run forever, whether or not
// the controller writes, and whether or not time passes.
func TestWorldGivesUp(t *testing.T) {
	never := func() bool { return false }
	for name, c := range map[string]struct {
		begin   func(Options) *World
		options Options
		spoil   func(*World)
		gives   bool
	}{
		"writes":                     {NewWorld, Options{MaxWrites: 20}, func(*World) {}, true},
		"writes, checked":            {newChecked, Options{MaxWrites: 20}, func(*World) {}, true},
		"writes, and no limit":       {NewWorld, Options{}, func(*World) {}, false},
		"enough":                     {newChecked, Options{MaxWrites: 1000}, func(*World) {}, false},
		"no writes, and no time":     {newChecked, Options{MaxWrites: 1000}, spin, true},
		"no time, and not checked":   {NewWorld, Options{MaxWrites: 1000}, spin, true},
		"calls that fail every time": {newChecked, Options{MaxWrites: 20, Fault: func(Call) Fault { return Fault{Kind: Fail} }}, func(*World) {}, true},
	} {
		w := c.begin(c.options)
		must(w.CreateJob("a", indexedSpec(20, 20), Script{{Index: -1, Act: Act{Run: time.Second}}}))
		c.spoil(w)
		if w.RunUntil(never, time.Hour) {
			t.Errorf("%s: what never happens has happened", name)
		}
		gave := w.GaveUp()
		if gave != c.gives || !gave && !w.Finished("a") {
			t.Errorf("%s: gave up: %q, finished: %v", name, w.gaveUp, w.Finished("a"))
		}
		if w.observer == nil {
			continue
		}
		broken := w.checker().Violations
		if gave && (len(broken) != 1 || !strings.Contains(broken[0], "L1")) || !gave && len(broken) > 0 {
			t.Errorf("%s: gave up: %q, violations %q", name, w.gaveUp, broken)
		}
	}
}

// spin lets something happen at one instant without end.
func spin(w *World) { w.after(0, func() { spin(w) }) }
