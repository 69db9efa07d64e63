package sim

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Observer is notified of events in a World when they happen, so that it can check invariants against a history of its
// own. It must not change the World.
type Observer interface {
	// Observe is called with a Commit, or one of the events below.
	Observe(event any)
	// Tracef is called for each line of the trace.
	Tracef(format string, args ...any)
}

// Events other than Commits.
type (
	// ClockAdvancing precedes an advance of the clock.
	ClockAdvancing struct{ To time.Time }
	// ClocksSet is sent when the clocks of all controller processes are set.
	ClocksSet struct{ Ahead time.Duration }
	// ProcessStarted is sent when a controller process starts, or when other processes end.
	ProcessStarted struct{ ProcessOptions }

	// WritingStatus precedes the controller's write of a status.
	WritingStatus struct{ Job *batchv1.Job }
	// StatusAnswered follows the controller's write of a status.
	StatusAnswered struct{ Err error }
	// WritingPod precedes the controller's deletion or patch of a pod.
	WritingPod struct {
		Verb string
		Pod  reconcile.PodRef
		Job  *batchv1.Job
	}

	// CallFailed is sent for a call with a fault, or a sync that failed.
	CallFailed struct{}
	// WatchesBlind says until when watches deliver late; some events are never delivered.
	WatchesBlind struct{ Until time.Time }
	// GaveUp is sent when a World ends because its controller never becomes idle.
	GaveUp struct{ Reason string }
)

// Attach adds an observer to the World. From then on, all versions are kept, so that lists can be old, and the Store
// returns copies, so that no change is missed.
func (w *World) Attach(o Observer) {
	w.observer, w.journal.kept, w.Store.shared = o, true, false
	w.ctx = klog.NewContext(context.Background(), logr.New(planSink{planned: func() { plans(w) }, work: w.OnWork}))
}

func (w *World) notify(event any) {
	if w.observer != nil {
		w.observer.Observe(event)
	}
}

func (w *World) tracef(format string, args ...any) {
	if w.observer != nil {
		w.observer.Tracef(format, args...)
	}
}

// planSink detects when a sync plans a stage, because the sync then asks whether to log the plan. work, if set, is
// called with the work that the stage is about to do.
type planSink struct {
	logr.LogSink
	planned func()
	work    func(any)
}

// These are the log levels of plans, and of the work of stages.
const planLevel, workLevel = 5, 6

func (planSink) Init(logr.RuntimeInfo) {}

func (s planSink) Enabled(level int) bool {
	if level == planLevel {
		s.planned()
	}
	return level == workLevel && s.work != nil
}

func (s planSink) Info(_ int, _ string, keysAndValues ...any) {
	s.work(keysAndValues[len(keysAndValues)-1])
}
