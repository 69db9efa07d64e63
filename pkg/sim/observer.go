package sim

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// observer is notified of what happens in a World; tests check invariants with it.
type observer interface {
	// observe is called with a Commit, or one of the events below.
	observe(event any)
	// tracef is called for each line of the trace.
	tracef(format string, args ...any)
}

// Events other than Commits.
type (
	// clockAdvancing precedes an advance of the clock.
	clockAdvancing struct{ to time.Time }
	// clocksSet is sent when the clocks of all controller processes are set.
	clocksSet struct{ ahead time.Duration }
	// processStarted is sent when a controller process starts, or is left after another ended.
	processStarted struct{ ProcessOptions }

	// writingStatus precedes the write of a status by the controller, statusAnswered follows it.
	writingStatus  struct{ job *batchv1.Job }
	statusAnswered struct{ err error }
	// writingPod precedes the deletion or the patch of a pod by the controller.
	writingPod struct {
		verb string
		pod  reconcile.PodRef
		job  *batchv1.Job
	}

	// callFailed is sent for a call with a fault, or a sync that failed.
	callFailed struct{}
	// watchesBlind is until when the controller does not see what happens; some of it never.
	watchesBlind struct{ until time.Time }
	// gaveUp is sent when a World ends because its controller never becomes idle.
	gaveUp struct{ reason string }
)

// attach adds an observer to the World. From then on all versions are kept, so that lists can
// be old, and the Store returns copies, so that nothing changes unobserved.
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
