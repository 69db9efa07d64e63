package metrics

import (
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// uncountedPods holds the finished pods that have the tracking finalizer.
type uncountedPods struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	pods  map[types.UID]uncountedPod
	// delayed holds the pods, by Job, that keep the finalizer until their index has a new pod (BLI-06), which a back-off
	// or a suspension may delay.
	delayed map[types.UID][]types.UID
}

type uncountedPod struct {
	finished time.Time
	delayed  bool
}

func newUncountedPods(now clock.PassiveClock) *uncountedPods {
	return &uncountedPods{clock: now, pods: map[types.UID]uncountedPod{}, delayed: map[types.UID][]types.UID{}}
}

func (u *uncountedPods) set(pod *reconcile.Pod, held bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if held {
		u.pods[pod.UID] = uncountedPod{finished: pod.FinishedAt}
	} else {
		delete(u.pods, pod.UID)
	}
}

// setDelayed sets the delayed pods of the Job.
func (u *uncountedPods) setDelayed(job types.UID, pods []types.UID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.mark(u.delayed[job], false)
	u.mark(pods, true)
	if len(pods) > 0 {
		u.delayed[job] = pods
	} else {
		delete(u.delayed, job)
	}
}

func (u *uncountedPods) mark(pods []types.UID, delayed bool) {
	for _, uid := range pods {
		if p, held := u.pods[uid]; held {
			p.delayed = delayed
			u.pods[uid] = p
		}
	}
}

// clear removes all pods, and returns their number.
func (u *uncountedPods) clear() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := len(u.pods)
	clear(u.pods)
	clear(u.delayed)
	return n
}

// oldest returns the age of the oldest pod that is not delayed, in seconds. It iterates over all pods at each scrape:
// there are many only while something is wrong, or while many indexes wait for a new pod.
func (u *uncountedPods) oldest() float64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	age := time.Duration(0)
	for _, p := range u.pods {
		if !p.delayed {
			age = max(age, u.clock.Since(p.finished))
		}
	}
	return age.Seconds()
}

// waitingJobs holds Jobs that wait for something, with the reason and the start of the wait.
type waitingJobs struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	jobs  map[types.UID]jobWait
}

type jobWait struct {
	reason string
	since  time.Time
}

func newWaitingJobs(now clock.PassiveClock) *waitingJobs {
	return &waitingJobs{clock: now, jobs: map[types.UID]jobWait{}}
}

func (w *waitingJobs) set(job types.UID, wait jobWait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs[job] = wait
}

// extend sets the reason of a wait, or starts a wait now. anew restarts the wait, after progress.
func (w *waitingJobs) extend(job types.UID, reason string, anew bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait, waits := w.jobs[job]
	if !waits || anew {
		wait.since = w.clock.Now()
	}
	wait.reason = reason
	w.jobs[job] = wait
}

func (w *waitingJobs) remove(job types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.jobs, job)
}

func (w *waitingJobs) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.jobs)
}

// each calls do for every Job that waits.
func (w *waitingJobs) each(do func(reason string, age float64)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, wait := range w.jobs {
		do(wait.reason, w.clock.Since(wait.since).Seconds())
	}
}

func (w *waitingJobs) oldest() (age float64) {
	w.each(func(_ string, a float64) { age = max(age, a) })
	return age
}

func (w *waitingJobs) counts() map[string]float64 {
	n := noRefusals()
	w.each(func(reason string, _ float64) { n[reason]++ })
	return n
}

func (w *waitingJobs) ages() map[string]float64 {
	oldest := noRefusals()
	w.each(func(reason string, age float64) { oldest[reason] = max(oldest[reason], age) })
	return oldest
}

// refusedByQuota is a reason in addition to the values of callResult.
const refusedByQuota = "quota"

// noRefusals returns 0 for every reason, so that graphs show 0 instead of a gap.
func noRefusals() map[string]float64 {
	return map[string]float64{
		refusedByQuota: 0, "forbidden": 0, "invalid": 0, "throttled": 0, "timeout": 0, "no_answer": 0, "error": 0, "conflict": 0, "not_found": 0,
	}
}

// refusalReason returns why a pod could not be created. An exceeded quota is a Forbidden error, distinguishable only by
// its text.
func refusalReason(err error) string {
	if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota") {
		return refusedByQuota
	}
	return callResult(err)
}

// JobIgnored records that a Job waits for nothing: it is gone, finished, being deleted, or another controller's.
func (m *Metrics) JobIgnored(job types.UID) {
	m.uncounted.setDelayed(job, nil)
	m.doomed.remove(job)
	m.refused.remove(job)
}

// JobUnfinished records whether an unfinished Job is bound to end.
func (m *Metrics) JobUnfinished(job *batchv1.Job) {
	if bound := boundSince(job); bound.IsZero() {
		m.doomed.remove(job.UID)
	} else {
		m.doomed.set(job.UID, jobWait{since: bound})
	}
}

// PodsDelayed sets the pods of the Job that keep the tracking finalizer until their index has
// a new pod (BLI-06).
func (m *Metrics) PodsDelayed(job types.UID, pods []types.UID) { m.uncounted.setDelayed(job, pods) }

// PodRefused records why the API server refused to create a pod of the Job. progress reports whether another pod was
// created, which restarts the wait.
func (m *Metrics) PodRefused(job types.UID, refusal error, progress bool) {
	m.refused.extend(job, refusalReason(refusal), progress)
}

// PodsNotRefused records that the Job does not wait for refused pods, or no longer does.
func (m *Metrics) PodsNotRefused(job types.UID) { m.refused.remove(job) }

// boundSince returns the time at which the Job became bound to end, or zero.
func boundSince(job *batchv1.Job) time.Time {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		if c := reconcile.TrueCondition(job, t); c != nil {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}
