package metrics

import (
	"errors"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-base/metrics"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// additionalMetrics holds the metrics that the built-in controller does not have.
type additionalMetrics struct {
	rejectedStatuses   *metrics.Counter
	statusWriteRetries *metrics.Counter
	foreignStatuses    *metrics.Counter
	apiCalls           *metrics.CounterVec
	syncStages         *metrics.HistogramVec
	finishDelay        *metrics.HistogramVec
	shards             *shards
	scopes             *scopes
	*scope
}

func newAdditionalMetrics(r registrar, now clock.PassiveClock) additionalMetrics {
	all := &scopes{clock: now, all: map[*scope]bool{}}
	r.gauge("oldest_uncounted_pod_age_seconds",
		"How long ago the oldest pod finished that is not counted yet and still holds the Job tracking finalizer; 0 without any. Pods that hold it until their index has a new pod are left out.", all.oldest(func(s *scope) float64 { return s.uncounted.oldest() }))
	r.gauge("oldest_doomed_job_age_seconds",
		"How long ago the oldest Job that has not ended yet became bound to end (FailureTarget, SuccessCriteriaMet); 0 without any.", all.oldest(func(s *scope) float64 { return s.doomed.oldest() }))
	r.gauges("jobs_refused_pods",
		"Jobs that want pods and cannot create them, by the reason of the last refusal (quota, forbidden, invalid, throttled, timeout, no_answer, error, conflict, not_found).", "reason",
		all.reasons(func(s *scope) map[string]float64 { return s.refused.counts() }, func(a, b float64) float64 { return a + b }))
	r.gauges("oldest_refused_job_age_seconds",
		"For how long the Job that waits longest could create no pod at all, though it wants some, by the reason of the last refusal; 0 without any.", "reason",
		all.reasons(func(s *scope) map[string]float64 { return s.refused.ages() }, func(a, b float64) float64 { return max(a, b) }))
	return additionalMetrics{
		rejectedStatuses: r.single("status_writes_rejected_total",
			"Job statuses that the API server refused for good: as invalid, which is a bug or the work of somebody who wrote the status too, or because a webhook or a policy denied them."),
		statusWriteRetries: r.single("status_write_conflicts_total",
			"Status writes that lost against another write to the same Job, and were decided anew."),
		foreignStatuses: r.single("foreign_status_writes_total",
			"Statuses of our Jobs that somebody else wrote since we did. More than a few mean that a second controller runs."),
		apiCalls: r.counter("api_calls_total",
			"Calls to the API server that syncs made, by verb, resource and result (success, conflict, not_found, forbidden, invalid, throttled, timeout, no_answer, error).", "verb", "resource", "result"),
		syncStages: r.histogram("sync_stages",
			"Stages that a sync of an unfinished Job carried out, each a set of writes in parallel, by completion mode.", []float64{0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30}, "completion_mode"),
		finishDelay: r.histogram("job_finish_delay_seconds",
			"Time from the end of a Job's last pod, as the watch told of it, to the stored terminal condition, by completion mode and result.", reactionBuckets, "completion_mode", "result"),
		shards: newShards(r), scopes: all, scope: all.begin(),
	}
}

// Forget removes all Jobs and pods: a controller that starts with an empty cache sees them again, and after a
// controller has ended, their ages must not grow.
func (m *Metrics) Forget() {
	if m == nil {
		return
	}
	m.trackedTerminated.WithLabelValues("delete").Add(float64(m.uncounted.clear()))
	m.doomed.clear()
	m.refused.clear()
}

// StatusRejected counts a status that the API server rejects permanently.
func (m *Metrics) StatusRejected() {
	if m != nil {
		m.rejectedStatuses.Inc()
	}
}

// StatusConflict counts a status write that lost to another write to the same Job.
func (m *Metrics) StatusConflict() {
	if m != nil {
		m.statusWriteRetries.Inc()
	}
}

// ForeignStatus counts a status of one of our Jobs that another client wrote.
func (m *Metrics) ForeignStatus() {
	if m != nil {
		m.foreignStatuses.Inc()
	}
}

// APICall counts one call to the API server, if it was sent.
func (m *Metrics) APICall(verb, resource string, err error) {
	if errors.Is(err, kube.ErrUnsent) {
		return
	}
	m.apiCalls.WithLabelValues(verb, resource, callResult(err)).Inc()
}

// JobFinished records the delay between the end of the Job's last pod and the storing of its terminal condition.
func (m *Metrics) JobFinished(stored *batchv1.Job, delay time.Duration) {
	if m == nil {
		return
	}
	result := "failed"
	if stored.Status.CompletionTime != nil {
		result = "succeeded"
	}
	m.finishDelay.WithLabelValues(completionMode(stored), result).Observe(delay.Seconds())
}

// callResult returns the label value for an error.
func callResult(err error) string {
	switch {
	case err == nil:
		return "success"
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return "conflict"
	case apierrors.IsNotFound(err):
		return "not_found"
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return "forbidden"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return "invalid"
	case apierrors.IsTooManyRequests(err):
		return "throttled"
	case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		return "timeout"
	case apierrors.ReasonForError(err) == "":
		return "no_answer"
	}
	return "error"
}
