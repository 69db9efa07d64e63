package explaintest

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// JobEvent returns a warning about the Job, last seen d ago.
func JobEvent(reason, message string, count int32, d time.Duration) input.Event {
	return input.Event{Type: "Warning", Reason: reason, Message: message, Count: count, First: Noon.Add(-d - time.Minute), Last: Noon.Add(-d)}
}

// FailedEvent returns our controller's event about count pods with this failure.
func FailedEvent(failure cause.Failure, pod string, count int32, d time.Duration) input.Event {
	r := cause.Record{Cause: cause.Cause{Failure: failure, Rule: failurepolicy.NoRule}, Pod: pod}
	e := JobEvent("PodFailed", r.Message(), count, d)
	e.Failed = &r
	return e
}

// DeletedPod is the failure of a pod that was deleted while it ran.
var DeletedPod = cause.Failure{DeletedRunning: true}

// Exited returns the failure of a pod whose container exited with code.
func Exited(code int32) cause.Failure {
	return cause.Failure{Exit: cause.Exit{Container: "main", ExitCode: code}}
}

// Killed returns the failure of a container that ended while its pod was being deleted.
func Killed(code int32) cause.Failure {
	f := Exited(code)
	f.Deleting = true
	return f
}

// AboutPod returns an event about a pod, from before FailJob.
func AboutPod(pod, kind, source, reason, message string) input.Event {
	at := Noon.Add(-12 * time.Minute)
	return input.Event{Pod: pod, Type: kind, Source: source, Reason: reason, Message: message, Count: 1, First: at, Last: at}
}

// PodEvent returns a warning about pod train-x, d ago.
func PodEvent(reason, message string, d time.Duration) input.Event {
	at := Noon.Add(-d)
	return input.Event{Pod: "train-x", Type: "Warning", Reason: reason, Message: message, First: at, Last: at, Count: 1}
}
