// Package metrics has the metrics of a Job controller: the metrics of the built-in controller, with the same names and
// labels, and some more. It computes label values and ages; the controller reports the events.
package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// subsystem is the subsystem of the built-in controller, so that its dashboards work (JOB-52).
const subsystem = "job_controller"

// Metrics counts the actions of a controller on its Jobs. It has the names, labels and meanings of the built-in
// controller's metrics (D-19); additionalMetrics has more. Everything is counted at most once: a write whose response
// was lost, or whose process ended during the write, is not counted. A nil *Metrics counts nothing.
type Metrics struct {
	jobsFinished      *metrics.CounterVec
	podsFinished      *metrics.CounterVec
	indexesFinished   *metrics.CounterVec
	podsCreated       *metrics.CounterVec
	failuresHandled   *metrics.CounterVec
	trackedTerminated *metrics.CounterVec
	syncs             *metrics.CounterVec
	syncDuration      *metrics.HistogramVec
	staleSyncs        *metrics.CounterVec
	jobsOfOthers      *metrics.CounterVec
	additionalMetrics
}

// New returns metrics registered with the registry. The clock determines the age of pods that wait to be counted.
func New(registry metrics.KubeRegistry, now clock.PassiveClock) *Metrics {
	r := registrar{registry}
	return &Metrics{
		jobsFinished: r.counter("jobs_finished_total",
			"Jobs that finished, by completion mode, result (failed, succeeded) and reason.", "completion_mode", "result", "reason"),
		podsFinished: r.counter("job_pods_finished_total",
			"Finished pods that moved into the counters of their Job, by completion mode and result (failed, succeeded).", "completion_mode", "result"),
		indexesFinished: r.counter("job_finished_indexes_total",
			"Completion indexes that ended, by status (failed, succeeded) and by what limits their retries (backoffLimit perIndex, global).", "status", "backoffLimit"),
		podsCreated: r.counter("job_pods_creation_total",
			"Attempts to create a pod, by reason (new, recreate_terminating_or_failed, recreate_failed) and status (succeeded, failed).", "reason", "status"),
		failuresHandled: r.counter("pod_failures_handled_by_failure_policy_total",
			"Failed pods that a rule of the pod failure policy matched, by the action of that rule.", "action"),
		trackedTerminated: r.counter("terminated_pods_tracking_finalizer_total",
			"Finished pods that hold the Job tracking finalizer: seen first (add), and freed or gone (delete).", "event"),
		syncs: r.counter("job_syncs_total",
			"Syncs of unfinished Jobs, by completion mode, result (success, error) and action (reconciling, tracking, pods_created, pods_deleted).", syncLabels...),
		syncDuration: r.histogram("job_sync_duration_seconds",
			"Duration of the syncs of unfinished Jobs, by completion mode, result and action as in job_syncs_total.", reactionBuckets, syncLabels...),
		staleSyncs: r.counter("stale_sync_skips_total",
			"Syncs that could not go on with what the watches had delivered, because writes might be newer: they read the objects anew.", "group", "resource"),
		jobsOfOthers: r.counter("jobs_by_external_controller_total",
			"Jobs that another controller reconciles, by its name in spec.managedBy. Counted in place of the built-in controller only.", "controller_name"),
		additionalMetrics: newAdditionalMetrics(r, now),
	}
}

var syncLabels = []string{"completion_mode", "result", "action"}

// reactionBuckets are 4 ms to 65 s, each twice the previous one.
var reactionBuckets = metrics.ExponentialBuckets(0.004, 2, 15)

// registrar creates metrics of the subsystem.
type registrar struct{ registry metrics.KubeRegistry }

func (r registrar) counter(name, help string, labels ...string) *metrics.CounterVec {
	c := metrics.NewCounterVec(&metrics.CounterOpts{Subsystem: subsystem, Name: name, Help: help}, labels)
	r.registry.MustRegister(c)
	return c
}

func (r registrar) histogram(name, help string, buckets []float64, labels ...string) *metrics.HistogramVec {
	h := metrics.NewHistogramVec(&metrics.HistogramOpts{Subsystem: subsystem, Name: name, Help: help, Buckets: buckets}, labels)
	r.registry.MustRegister(h)
	return h
}

func (r registrar) single(name, help string) *metrics.Counter {
	c := metrics.NewCounter(&metrics.CounterOpts{Subsystem: subsystem, Name: name, Help: help})
	r.registry.MustRegister(c)
	return c
}

func (r registrar) gauge(name, help string, value func() float64) {
	r.registry.RawMustRegister(metrics.NewGaugeFunc(&metrics.GaugeOpts{Subsystem: subsystem, Name: name, Help: help}, value))
}

// gauges registers one gauge for each value of a label.
func (r registrar) gauges(name, help, label string, values func() map[string]float64) {
	r.registry.RawMustRegister(&labeledGauges{
		prometheus.NewDesc(prometheus.BuildFQName("", subsystem, name), "[ALPHA] "+help, []string{label}, nil), values,
	})
}

// labeledGauges are gauges whose values are computed at a scrape.
type labeledGauges struct {
	description *prometheus.Desc
	values      func() map[string]float64
}

// Describe implements prometheus.Collector.
func (g *labeledGauges) Describe(to chan<- *prometheus.Desc) { to <- g.description }

// Collect implements prometheus.Collector.
func (g *labeledGauges) Collect(to chan<- prometheus.Metric) {
	for label, value := range g.values() {
		to <- prometheus.MustNewConstMetric(g.description, prometheus.GaugeValue, value, label)
	}
}

func completionMode(job *batchv1.Job) string {
	return string(jobspec.CompletionMode(&job.Spec))
}

// StatusStored counts the changes from one stored status to the next (JOB-50, TRK-30,
// BLI-32, PFP-13).
func (m *Metrics) StatusStored(before, after *batchv1.Job, failed []reconcile.FailedPod) {
	if m == nil {
		return
	}
	m.podsCounted(before, after)
	m.indexesEnded(before, after)
	for _, p := range failed {
		if p.Match != nil && p.Match.Matched() {
			m.failuresHandled.WithLabelValues(string(p.Match.Action)).Inc()
		}
	}
	if reconcile.IsFinished(before) {
		return
	}
	if c := reconcile.TrueCondition(after, batchv1.JobComplete); c != nil {
		m.jobsFinished.WithLabelValues(completionMode(after), "succeeded", c.Reason).Inc()
	} else if c := reconcile.TrueCondition(after, batchv1.JobFailed); c != nil {
		m.jobsFinished.WithLabelValues(completionMode(after), "failed", boundedReason(c.Reason)).Inc()
	}
}

// boundedReason replaces reasons with users' rule names, so that a label has few values (PFN-14).
func boundedReason(reason string) string {
	if strings.HasPrefix(reason, rulename.ReasonPrefix) {
		return batchv1.JobReasonPodFailurePolicy
	}
	return reason
}

func (m *Metrics) podsCounted(before, after *batchv1.Job) {
	mode := completionMode(after)
	// Both counts may decrease (elastic Jobs), a metric may not.
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

// added returns the number of indexes, within completions, that after has and before lacks.
func added(job *batchv1.Job, before, after string) int {
	if before == after {
		return 0
	}
	limit := ptr.Deref(job.Spec.Completions, 0)
	old, _ := indexset.ParseTolerant(before, limit)
	now, _ := indexset.ParseTolerant(after, limit)
	return now.Difference(old).Len()
}

// PodCreated counts one attempt to create a pod (PRP-17).
func (m *Metrics) PodCreated(reason reconcile.CreateReason, err error) {
	if m == nil {
		return
	}
	status := "succeeded"
	if err != nil {
		status = "failed"
	}
	m.podsCreated.WithLabelValues(string(reason), status).Inc()
}

// FailureIgnored counts a failed pod that was released because a rule ignores its failure.
func (m *Metrics) FailureIgnored() {
	if m != nil {
		m.failuresHandled.WithLabelValues(string(batchv1.PodFailurePolicyActionIgnore)).Inc()
	}
}

// FinalizerHeld counts a finished pod that has the tracking finalizer, or that no longer has it (TRK-30).
func (m *Metrics) FinalizerHeld(pod *reconcile.Pod, held bool) {
	event := "delete"
	if held {
		event = "add"
	}
	m.trackedTerminated.WithLabelValues(event).Inc()
	m.uncounted.set(pod, held)
}

// Action is the action of a sync on the pods of its Job, as a label value.
type Action string

// Values of Action (JOB-49).
const (
	Reconciling Action = "reconciling"
	Tracking    Action = "tracking"
	PodsCreated Action = "pods_created"
	PodsDeleted Action = "pods_deleted"
)

// Sync is a sync of an unfinished Job.
type Sync struct {
	Took   time.Duration
	Stages int
	Action Action
	Err    error
}

// Synced counts a sync of an unfinished Job (JOB-49).
func (m *Metrics) Synced(job *batchv1.Job, s Sync) {
	if m == nil {
		return
	}
	mode, result := completionMode(job), "success"
	if s.Err != nil {
		result = "error"
	}
	m.syncs.WithLabelValues(mode, result, string(s.Action)).Inc()
	m.syncDuration.WithLabelValues(mode, result, string(s.Action)).Observe(s.Took.Seconds())
	m.syncStages.WithLabelValues(mode).Observe(float64(s.Stages))
}

// JobOfOthers counts a Job of another external controller when it is first seen (MGB-12).
func (m *Metrics) JobOfOthers(name string) {
	if m != nil {
		m.jobsOfOthers.WithLabelValues(name).Inc()
	}
}

// StaleSync counts a sync that has to list the Job's pods from the API server (JOB-51).
func (m *Metrics) StaleSync() {
	if m != nil {
		m.staleSyncs.WithLabelValues("", "pods").Inc()
	}
}
