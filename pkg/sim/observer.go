package sim

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// observer follows what happens in a World, while it happens; tests check invariants with it.
type observer interface {
	// observe takes a Commit, or one of the events below.
	observe(event any)
	// tracef takes a line of the trace.
	tracef(format string, args ...any)
}

// Events, besides Commits.
type (
	// clockAdvancing precedes a move of the clock.
	clockAdvancing struct{ to time.Time }
	// clocksSet sets the clocks of all controller processes so far ahead.
	clocksSet struct{ ahead time.Duration }
	// processStarted is a controller process that starts, or that is left when another ends.
	processStarted struct{ ProcessOptions }

	// writingStatus precedes the write of a status by the controller, statusAnswered follows it.
	writingStatus  struct{ job *batchv1.Job }
	statusAnswered struct{ err error }
	// writingPod precedes the deletion or the patch of a pod by the controller; a patch ties
	// the pod to the Job, or loosens it.
	writingPod struct {
		verb string
		pod  reconcile.PodRef
		job  *batchv1.Job
	}

	// callFailed is a call that a fault affects, or a sync that fails.
	callFailed struct{}
	// watchesBlind is a time that the controller sees only at its end, or never.
	watchesBlind struct{ from, until time.Time }
	// gaveUp is the end of a World whose controller does not come to rest.
	gaveUp struct{ reason string }
)

// attach lets an observer follow the World. From then on all that was stored is kept, so that
// lists can be old, and what the Store returns is copied, so that nobody changes it unseen.
func (w *World) attach(o observer) {
	w.observer, w.journal.kept, w.Store.shared = o, true, false
}

func (w *World) notify(event any) {
	if w.observer != nil {
		w.observer.observe(event)
	}
}

func (w *World) tracef(format string, args ...any) {
	if w.observer != nil {
		w.observer.tracef(format, args...)
	}
}
