package sim

import (
	"time"
)

// Internals that only the tests of this package use.

// WhyGaveUp returns the reason why the World gave up, or "".
func WhyGaveUp(w *World) string { return w.gaveUp }

// Step runs the next event, if there is one until the limit.
func Step(w *World, limit time.Time) bool { return w.step(limit) }

// Write attributes the writes of do to the process, with the knowledge of all that its watches have delivered.
func (p Process) Write(do func()) {
	p.p.world.Store.writer = writer{by: p.p.number, knew: Knowledge{p.p, p.p.jobs.seen, p.p.pods.seen}}
	do()
	p.p.world.Store.writer = writer{}
}

// KnownPods returns the version of pods that the running sync knew when it last planned.
func KnownPods(w *World) int64 { return w.current.knew.pods }
