package controller

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// metricsSubsystem is the built-in controller's, so that its dashboards fit (JOB-52).
const metricsSubsystem = "job_controller"

// Metrics counts what a controller does to its Jobs. The names, labels and meanings are
// those of the built-in controller (D-19), but for the two about status writes, which are
// ours. Everything is counted at most once: what a write brought whose answer was lost,
// or whose process ended with it, is not counted. A nil *Metrics counts nothing.
type Metrics struct {
	jobsFinished       *metrics.CounterVec
	podsFinished       *metrics.CounterVec
	indexesFinished    *metrics.CounterVec
	podsCreated        *metrics.CounterVec
	failuresHandled    *metrics.CounterVec
	trackedTerminated  *metrics.CounterVec
	rejectedStatuses   *metrics.Counter
	statusWriteRetries *metrics.Counter
}

// NewMetrics returns metrics that the registry serves.
func NewMetrics(registry metrics.KubeRegistry) *Metrics {
	counter := func(name, help string, labels ...string) *metrics.CounterVec {
		c := metrics.NewCounterVec(&metrics.CounterOpts{Subsystem: metricsSubsystem, Name: name, Help: help}, labels)
		registry.MustRegister(c)
		return c
	}
	single := func(name, help string) *metrics.Counter {
		c := metrics.NewCounter(&metrics.CounterOpts{Subsystem: metricsSubsystem, Name: name, Help: help})
		registry.MustRegister(c)
		return c
	}
	return &Metrics{
		jobsFinished: counter("jobs_finished_total",
			"Jobs that finished, by completion mode, result (failed, succeeded) and reason.", "completion_mode", "result", "reason"),
		podsFinished: counter("job_pods_finished_total",
			"Finished pods that moved into the counters of their Job, by completion mode and result (failed, succeeded).", "completion_mode", "result"),
		indexesFinished: counter("job_finished_indexes_total",
			"Completion indexes that ended, by status (failed, succeeded) and by what limits their retries (backoffLimit perIndex, global).", "status", "backoffLimit"),
		podsCreated: counter("job_pods_creation_total",
			"Attempts to create a pod, by reason (new, recreate_terminating_or_failed, recreate_failed) and status (succeeded, failed).", "reason", "status"),
		failuresHandled: counter("pod_failures_handled_by_failure_policy_total",
			"Failed pods that a rule of the pod failure policy matched, by the action of that rule.", "action"),
		trackedTerminated: counter("terminated_pods_tracking_finalizer_total",
			"Finished pods that hold the Job tracking finalizer: seen first (add), and freed or gone (delete).", "event"),
		rejectedStatuses: single("status_writes_rejected_total",
			"Job statuses that the API server found invalid. Any is a bug, or the work of somebody who wrote the status too."),
		statusWriteRetries: single("status_write_conflicts_total",
			"Status writes that lost against another write to the same Job, and were decided anew."),
	}
}

func completionMode(job *batchv1.Job) string {
	return string(ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion))
}

// statusStored counts what a stored status says beyond the one before it (JOB-50,
// TRK-30, BLI-32, PFP-13).
func (m *Metrics) statusStored(before, after *batchv1.Job, findings []reconcile.Finding) {
	if m == nil {
		return
	}
	m.podsCounted(before, after)
	m.indexesEnded(before, after)
	for _, f := range findings {
		switch {
		case f.Kind == reconcile.FindingRecorded && f.Reason == reconcile.ReasonFailed && f.Match != nil && f.Match.Action != "":
			m.failuresHandled.WithLabelValues(string(f.Match.Action)).Inc()
		case f.Kind == reconcile.FindingFinished && f.Explains == string(batchv1.JobComplete):
			m.jobsFinished.WithLabelValues(completionMode(after), "succeeded", f.Reason).Inc()
		case f.Kind == reconcile.FindingFinished:
			m.jobsFinished.WithLabelValues(completionMode(after), "failed", boundedReason(f.Reason)).Inc()
		}
	}
}

// boundedReason keeps users' rule names out of a label (PFN-14).
func boundedReason(reason string) string {
	if strings.HasPrefix(reason, rulename.ReasonPrefix) {
		return batchv1.JobReasonPodFailurePolicy
	}
	return reason
}

func (m *Metrics) podsCounted(before, after *batchv1.Job) {
	mode := completionMode(after)
	// Both counts may be corrected downwards (elastic Jobs), a metric may not.
	m.podsFinished.WithLabelValues(mode, "failed").Add(float64(max(0, after.Status.Failed-before.Status.Failed)))
	succeeded := int(after.Status.Succeeded - before.Status.Succeeded)
	if mode == string(batchv1.IndexedCompletion) {
		succeeded = added(after, before.Status.CompletedIndexes, after.Status.CompletedIndexes)
	}
	m.podsFinished.WithLabelValues(mode, "succeeded").Add(float64(max(0, succeeded)))
}

func (m *Metrics) indexesEnded(before, after *batchv1.Job) {
	if completionMode(after) != string(batchv1.IndexedCompletion) {
		return
	}
	limit := "global"
	if after.Status.FailedIndexes != nil {
		limit = "perIndex"
	}
	m.indexesFinished.WithLabelValues("succeeded", limit).Add(float64(added(after, before.Status.CompletedIndexes, after.Status.CompletedIndexes)))
	m.indexesFinished.WithLabelValues("failed", limit).Add(float64(added(after, ptr.Deref(before.Status.FailedIndexes, ""), ptr.Deref(after.Status.FailedIndexes, ""))))
}

// added is how many indexes in range a list gained.
func added(job *batchv1.Job, before, after string) int {
	if before == after {
		return 0
	}
	limit := ptr.Deref(job.Spec.Completions, 0)
	old, _ := indexset.ParseTolerant(before, limit)
	now, _ := indexset.ParseTolerant(after, limit)
	return now.Difference(old).Len()
}

// podCreated counts one attempt to create a pod (PRP-17).
func (m *Metrics) podCreated(reason reconcile.CreateReason, err error) {
	if m == nil {
		return
	}
	status := "succeeded"
	if err != nil {
		status = "failed"
	}
	m.podsCreated.WithLabelValues(string(reason), status).Inc()
}

// failureIgnored counts a failed pod that was let go because a rule ignores its failure.
func (m *Metrics) failureIgnored() {
	if m != nil {
		m.failuresHandled.WithLabelValues(string(batchv1.PodFailurePolicyActionIgnore)).Inc()
	}
}

// finalizerHeld counts finished pods that come to hold the tracking finalizer, and that
// no longer do (TRK-30).
func (m *Metrics) finalizerHeld(held bool) {
	event := "delete"
	if held {
		event = "add"
	}
	m.trackedTerminated.WithLabelValues(event).Inc()
}

func (m *Metrics) statusRejected() {
	if m != nil {
		m.rejectedStatuses.Inc()
	}
}

func (m *Metrics) statusConflict() {
	if m != nil {
		m.statusWriteRetries.Inc()
	}
}
