package sim

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What the tests of this package see, and nobody else.

// ValidateStatus returns what the API server rejects in a write to /status.
func ValidateStatus(old, next *batchv1.Job) field.ErrorList { return validateStatus(old, next) }

// WhyGaveUp is why the World gave up, or "".
func WhyGaveUp(w *World) string { return w.gaveUp }

// Step lets the next event happen, if there is one until a limit.
func Step(w *World, limit time.Time) bool { return w.step(limit) }

// Write makes the writes of do those of the process, which knows all that its watches have delivered.
func (p Process) Write(do func()) {
	p.p.world.Store.writer = writer{by: p.p.number, knew: Knowledge{p.p, p.p.jobs.seen, p.p.pods.seen}}
	do()
	p.p.world.Store.writer = writer{}
}

// KnownPods is up to which version the running sync knew pods when it last planned.
func KnownPods(w *World) int64 { return w.current.knew.pods }
