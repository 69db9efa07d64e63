package controller

import (
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// ownMetrics are those that the built-in controller has not.
type ownMetrics struct {
	rejectedStatuses   *metrics.Counter
	statusWriteRetries *metrics.Counter
	foreignStatuses    *metrics.Counter
	apiCalls           *metrics.CounterVec
	syncStages         *metrics.HistogramVec
	finishDelay        *metrics.HistogramVec
	uncounted          *uncountedPods
}

func newOwnMetrics(r registrar, now clock.PassiveClock) ownMetrics {
	uncounted := &uncountedPods{clock: now, since: map[types.UID]time.Time{}}
	r.gauge("oldest_uncounted_pod_age_seconds",
		"How long ago the oldest pod finished that is not counted yet and still holds the Job tracking finalizer; 0 without any.", uncounted.oldest)
	return ownMetrics{
		rejectedStatuses: r.single("status_writes_rejected_total",
			"Job statuses that the API server found invalid. Any is a bug, or the work of somebody who wrote the status too."),
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
		uncounted: uncounted,
	}
}

// uncountedPods are the finished pods that hold the tracking finalizer.
type uncountedPods struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	since map[types.UID]time.Time
}

func (u *uncountedPods) set(pod *reconcile.Pod, held bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if held {
		u.since[pod.UID] = pod.FinishedAt
	} else {
		delete(u.since, pod.UID)
	}
}

// clear forgets all, and says how many there were.
func (u *uncountedPods) clear() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := len(u.since)
	clear(u.since)
	return n
}

// oldest is an age in seconds. It goes through all, at each scrape: there are many only
// while something is wrong.
func (u *uncountedPods) oldest() float64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	age := time.Duration(0)
	for _, since := range u.since {
		age = max(age, u.clock.Since(since))
	}
	return age.Seconds()
}

// beginTerm is called when a controller begins with an empty cache: what an earlier one of
// this process knew is seen anew.
func (m *Metrics) beginTerm() { m.endTerm() }

// endTerm is called when a controller has ended: a process that waits for the lead knows
// of no pods, and their age must not grow there.
func (m *Metrics) endTerm() {
	if m == nil {
		return
	}
	m.trackedTerminated.WithLabelValues("delete").Add(float64(m.uncounted.clear()))
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

func (m *Metrics) foreignStatus() {
	if m != nil {
		m.foreignStatuses.Inc()
	}
}

// apiCall counts one call.
func (m *Metrics) apiCall(verb, resource string, err error) {
	m.apiCalls.WithLabelValues(verb, resource, callResult(err)).Inc()
}

// callResult is an error in a word.
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
