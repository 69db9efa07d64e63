package controller

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/eventwriter"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// Reasons of events; events about conditions use the condition's reason.
const (
	eventCompleted           = "Completed"
	eventSuspended           = "Suspended"
	eventResumed             = "Resumed"
	eventUnknownMode         = "UnknownCompletionMode"
	eventInvalidRetryIndexes = "InvalidRetryIndexes"
	eventStatusRejected      = "StatusRejected"
	eventTooManySucceeded    = "TooManySucceededPods"
	eventInvalidRuleNames    = "InvalidPodFailurePolicyRuleNames"
	eventRestartsNotPerIndex = "BackoffLimitPerIndexOnFailure"
)

// event is one event about a Job.
type event struct{ kind, reason, message string }

// storedEvents returns the events about the conditions that a stored status added or changed.
func storedEvents(before, after *batchv1.Job, found *reconcile.Findings) (events []event) {
	for _, c := range after.Status.Conditions {
		switch t := c.Type; {
		case hasCondition(before, c):
		case t == batchv1.JobFailed && c.Status == corev1.ConditionTrue:
			events = append(events, event{corev1.EventTypeWarning, c.Reason, c.Message})
		case t == batchv1.JobComplete && c.Status == corev1.ConditionTrue:
			events = append(events, event{corev1.EventTypeNormal, eventCompleted, "Job completed"})
			if f := found.TooManySucceeded; f != nil {
				events = append(events, event{corev1.EventTypeWarning, eventTooManySucceeded, fmt.Sprintf(
					"%d pods succeeded, but spec.completions is %d; the Job is complete anyway", f.Succeeded, f.Completions)})
			}
		case t == batchv1.JobSuspended && c.Status == corev1.ConditionTrue:
			events = append(events, event{corev1.EventTypeNormal, eventSuspended, c.Message})
		case t == batchv1.JobSuspended:
			events = append(events, event{corev1.EventTypeNormal, eventResumed, c.Message})
		}
	}
	return events
}

// findingEvents returns the events about lasting problems of a Job; each of them is emitted once.
func findingEvents(found *reconcile.Findings) (events []event) {
	warn := func(reason, message string) { events = append(events, event{corev1.EventTypeWarning, reason, message}) }
	if len(found.Violations) > 0 {
		warn(eventInvalidRuleNames, "annotation "+rulename.Annotation+" is ignored: "+violationsText(found.Violations))
	}
	if found.RestartsNotPerIndex {
		warn(eventRestartsNotPerIndex, "backoffLimitPerIndex counts failed pods; with restartPolicy OnFailure, containers restart in their pod, and their failures do not count")
	}
	if found.UnknownMode != "" {
		warn(eventUnknownMode, "Skipped Job sync because completion mode is unknown: "+string(found.UnknownMode))
	}
	if why := found.BadRetryIndexes; why != "" {
		warn(eventInvalidRetryIndexes, "No pods are created: annotation "+why)
	}
	if asked := found.UnsupportedScheduling; asked != "" {
		warn(reconcile.ReasonSchedulingNotSupported, "No pods are created: the Job requests workload-aware scheduling ("+asked+"), which this controller does not support")
	}
	return events
}

// maxViolations is the number of invalid names that a message lists.
const maxViolations = 3

func violationsText(violations []rulename.Violation) string {
	var texts []string
	for _, v := range violations[:min(len(violations), maxViolations)] {
		texts = append(texts, v.String())
	}
	if more := len(violations) - maxViolations; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// aggregator is a recorder that can report many pods in one event. Without an aggregator, each report is a separate
// event.
type aggregator interface {
	// Pods reports pods that were created or deleted; the message starts with verb.
	Pods(job *batchv1.Job, reason, verb string, names []string)
	// Failures counts n pods that failed for the same cause.
	Failures(job *batchv1.Job, reason string, r cause.Record, n int)
	// Finished reports that no more events about the Job are expected.
	Finished(job *batchv1.Job)
}

var _ aggregator = &eventwriter.Writer{}

// reporter emits the events of one Job.
type reporter struct {
	recorder record.EventRecorder // nil for none
	memory   memory
	job      *batchv1.Job
}

func (s *jobSync) events() reporter { return reporter{s.config.Recorder, s.memory, s.job} }

func (r reporter) emit(e event) {
	if r.recorder != nil {
		r.recorder.Event(r.job, e.kind, e.reason, eventwriter.Truncate(e.message))
	}
}

// emitOnce emits an event once per key and process.
func (r reporter) emitOnce(key string, e event) {
	if r.isFirst(key) {
		r.emit(e)
	}
}

// maxEmitted bounds the number of keys remembered for one Job.
const maxEmitted = 1000

// isFirst reports whether the key is new, and remembers it. At maxEmitted keys, no further key counts as new.
func (r reporter) isFirst(key string) (first bool) {
	r.memory.update(r.job.UID, func(m *jobMemory) {
		if m.emitted == nil {
			m.emitted = map[string]bool{}
		}
		if first = !m.emitted[key] && len(m.emitted) < maxEmitted; first {
			m.emitted[key] = true
		}
	})
	return first
}

// stored emits events about the conditions of a stored status (JOB-47).
func (r reporter) stored(before, after *batchv1.Job, found *reconcile.Findings) {
	for _, e := range storedEvents(before, after, found) {
		r.emit(e)
	}
	if a, is := r.recorder.(aggregator); is && reconcile.IsFinished(after) && !reconcile.IsFinished(before) {
		a.Finished(after)
	}
}

func hasCondition(job *batchv1.Job, condition batchv1.JobCondition) bool {
	for _, c := range job.Status.Conditions {
		if c.Type == condition.Type && c.Status == condition.Status {
			return true
		}
	}
	return false
}

// findings emits events about lasting problems of the Job.
func (r reporter) findings(found *reconcile.Findings) {
	for _, e := range findingEvents(found) {
		r.emitOnce(e.reason+"\n"+e.message+"\n"+r.job.Annotations[rulename.Annotation], e)
	}
}

// rejected emits an event about a status that the API server rejects (STV-22). The invalid values may change with every
// try; the names of the fields do not.
func (r reporter) rejected(err error) {
	key := eventStatusRejected
	for _, c := range cluster.DetailsOf(err).Causes {
		key += "\n" + c.Field
	}
	r.emitOnce(key, event{corev1.EventTypeWarning, eventStatusRejected, fmt.Sprintf("The API server rejects the status of this Job, so it makes no progress: %v", err)})
}
