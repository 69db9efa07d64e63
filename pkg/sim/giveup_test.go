package sim

import (
	"strings"
	"testing"
	"time"
)

// A world whose controller never comes to an end does not go on without end, whether or not
// the controller writes, and whether or not time passes.
func TestWorldGivesUp(t *testing.T) {
	never := func() bool { return false }
	for name, c := range map[string]struct {
		options Options
		spoil   func(*World)
		gives   bool
	}{
		"writes":                     {Options{Unchecked: true, MaxWrites: 20}, func(*World) {}, true},
		"writes, checked":            {Options{MaxWrites: 20}, func(*World) {}, true},
		"writes, and no limit":       {Options{Unchecked: true}, func(*World) {}, false},
		"enough":                     {Options{MaxWrites: 1000}, func(*World) {}, false},
		"no writes, and no time":     {Options{MaxWrites: 1000}, spin, true},
		"no time, and not checked":   {Options{Unchecked: true, MaxWrites: 1000}, spin, true},
		"calls that fail every time": {Options{MaxWrites: 20, Fault: func(Call) Fault { return Fault{Kind: Fail} }}, func(*World) {}, true},
	} {
		w := NewWorld(c.options)
		must(w.CreateJob("a", indexedSpec(20, 20), Script{{Index: -1, Act: Act{Run: time.Second}}}))
		c.spoil(w)
		if w.RunUntil(never, time.Hour) {
			t.Errorf("%s: what never happens has happened", name)
		}
		gave := len(w.Checker.Violations) == 1 && strings.Contains(w.Checker.Violations[0], "L1")
		if gave != c.gives || !gave && len(w.Checker.Violations) > 0 || !gave && !w.Finished("a") {
			t.Errorf("%s: gave up: %v, violations %q, finished: %v", name, gave, w.Checker.Violations, w.Finished("a"))
		}
	}
}

// spin lets something happen at one instant without end.
func spin(w *World) { w.after(0, func() { spin(w) }) }
