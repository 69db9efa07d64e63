package controller

import (
	"maps"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
)

// jobMemory holds the state of a Job that this process knows and the API server does not store. Losing it leads to no
// wrong decision, except for a shorter back-off if failed pods were deleted, or a longer back-off if succeeded pods
// were deleted, or if the status of a failed pod does not show when it ended.
type jobMemory struct {
	ours      bool
	namespace string
	backoff   backoff.Record
	// status is the newest status such that the cached pods are known to be at least as new.
	status *batchv1.JobStatus
	// listPods reports whether to list the pods from the API server before the next decision.
	listPods bool
	// ramp is the number of creations that the next stage may start with (slow start); 0 means one.
	ramp int
	// conflicts counts, for each pod, the consecutive conflicts of its writes.
	conflicts map[types.UID]int
	// unanswered holds the status writes that may or may not have been stored.
	unanswered *unanswered
	// releasing maps pods whose ignored failure is recorded nowhere to the time they failed, until the watch shows their
	// release.
	releasing map[types.UID]time.Time
	// released reports whether another client may have released a pod since the Job was read: it may have recorded the
	// pod first.
	released bool
	// written is when this process last wrote the status.
	written time.Time
	// lastEnd is when this process last saw a pod of the Job end.
	lastEnd time.Time
	// failedSince maps failed pods to the time at which this process first saw that they had failed.
	failedSince map[types.UID]time.Time
	// emitted holds the keys of the events that are emitted only once.
	emitted map[string]bool
	// absent reports whether a read or a write did not find the Job; a watch may still show the Job, or show it only
	// later.
	absent bool
	// retired is the time since which nothing has been left to do for the Job.
	retired time.Time
}

// keepRetired is how long to remember that a Job was ours after nothing was left to do: a late request may still create
// one of its pods.
const keepRetired = 10 * time.Minute

// memory holds the jobMemory of each Job by UID: a Job recreated under the same name starts fresh (JOB-20).
type memory struct {
	mu    *sync.Mutex
	jobs  map[types.UID]jobMemory
	swept *time.Time
}

func newMemory() memory {
	return memory{mu: &sync.Mutex{}, jobs: map[types.UID]jobMemory{}, swept: &time.Time{}}
}

func (m memory) get(uid types.UID) jobMemory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.jobs[uid]
}

func (m memory) update(uid types.UID, change func(*jobMemory)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.jobs[uid]
	change(&j)
	m.jobs[uid] = j
}

// countConflict counts a conflict on a pod, and returns the number of consecutive conflicts.
func (m memory) countConflict(job, pod types.UID) (n int) {
	m.update(job, func(m *jobMemory) {
		if m.conflicts == nil {
			m.conflicts = map[types.UID]int{}
		}
		m.conflicts[pod]++
		n = m.conflicts[pod]
	})
	return n
}

// settleConflicts resets the conflict count of each pod that had no conflict in a sync; skip holds the pods that the
// sync left alone, with the reason.
func (m memory) settleConflicts(job types.UID, skip map[types.UID]why) {
	j := m.get(job)
	hadNone := func(pod types.UID, _ int) bool { return skip[pod] != changed }
	switch {
	case j.conflicts == nil:
	case !j.ours && !j.absent && !slices.Contains(slices.Collect(maps.Values(skip)), changed):
		m.forget(job) // The Job is gone, or was never known.
	default:
		m.update(job, func(m *jobMemory) {
			maps.DeleteFunc(m.conflicts, hadNone)
			if len(m.conflicts) == 0 {
				m.conflicts = nil
			}
		})
	}
}

// noteAbsent records that a read or a write did not find the Job.
func (m memory) noteAbsent(job types.UID) {
	m.update(job, func(m *jobMemory) { m.absent = true })
}

// seeFailure records the time at which this process first saw that a pod had failed.
func (m memory) seeFailure(job, pod types.UID, now time.Time) {
	m.update(job, func(m *jobMemory) {
		if m.failedSince == nil {
			m.failedSince = map[types.UID]time.Time{}
		}
		if m.failedSince[pod].IsZero() {
			m.failedSince[pod] = now
		}
	})
}

// failures returns Observation.FailedSince, and forgets the other failures.
func (m memory) failures(job *batchv1.Job, pods []*reconcile.Pod, now time.Time, limits reconcile.Config) (since map[types.UID]time.Time) {
	var failed []types.UID
	for _, p := range pods {
		if p.Finalizer && reconcile.HasFailed(&job.Spec, limits.Features, p) {
			failed = append(failed, p.UID)
		}
	}
	if len(failed) == 0 && m.get(job.UID).failedSince == nil {
		return nil
	}
	m.update(job.UID, func(m *jobMemory) {
		known := m.failedSince
		m.failedSince = make(map[types.UID]time.Time, len(failed))
		for _, pod := range failed {
			if m.failedSince[pod] = now; !known[pod].IsZero() { // The watch may not show the failure yet.
				m.failedSince[pod] = known[pod]
			}
		}
		for pod, at := range known {
			if now.Sub(at) < limits.FailureHold {
				m.failedSince[pod] = at
			}
		}
		since = maps.Clone(m.failedSince) // A watch may change the other map meanwhile.
		if len(since) == 0 {
			m.failedSince = nil
		}
	})
	return since
}

// noteReleasing records that a pod is about to be released. If no status will record its failure and the request gets
// no response, nothing else may show later that it failed.
func (m memory) noteReleasing(job types.UID, ref reconcile.PodRef) {
	if ref.IgnoredFailure.IsZero() && m.get(job).releasing == nil {
		return
	}
	m.update(job, func(m *jobMemory) {
		switch {
		case ref.IgnoredFailure.IsZero():
			delete(m.releasing, ref.UID)
		case m.releasing == nil:
			m.releasing = map[types.UID]time.Time{ref.UID: ref.IgnoredFailure}
		default:
			m.releasing[ref.UID] = ref.IgnoredFailure
		}
	})
}

// settleReleases adds the failures of pods that have been released to the back-off (PFP-06).
func (m memory) settleReleases(job types.UID, pods []*reconcile.Pod) {
	if len(m.get(job).releasing) == 0 {
		return
	}
	m.update(job, func(m *jobMemory) {
		held := map[types.UID]time.Time{}
		for _, p := range pods {
			if failed, is := m.releasing[p.UID]; is && p.Finalizer {
				held[p.UID] = failed
				delete(m.releasing, p.UID)
			}
		}
		var freed []backoff.Failure
		for pod, failed := range m.releasing {
			freed = append(freed, backoff.Failure{Pod: pod, At: failed})
		}
		m.backoff, m.releasing = m.backoff.Failed(freed...), held
	})
}

func (m memory) forget(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, uid)
}

// retire forgets everything about a Job except that it was ours and whether it is gone, for keepRetired.
func (m memory) retire(uid types.UID, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j, known := m.jobs[uid]; known && j.retired.IsZero() {
		m.jobs[uid] = jobMemory{ours: j.ours, namespace: j.namespace, absent: j.absent, retired: now}
	}
	if now.Sub(*m.swept) < keepRetired {
		return
	}
	*m.swept = now
	for other, j := range m.jobs {
		if !j.retired.IsZero() && now.Sub(j.retired) >= keepRetired {
			delete(m.jobs, other)
		}
	}
}
