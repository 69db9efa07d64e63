package controller

import (
	"maps"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
)

// jobMemory is what a process knows of a Job beyond what the API server stores.
// All of it can be lost without a wrong decision, but for a shorter back-off
// where failed pods were deleted too, and a longer one where succeeded pods were.
type jobMemory struct {
	ours      bool
	namespace string
	backoff   backoff.Record
	// status is the last one that the cached pods are known to be as new as.
	status *batchv1.JobStatus
	// listPods asks for a list past the cache before the next decision.
	listPods bool
	// ramp is how many creations the next stage may begin with (slow start), 0 for one.
	ramp int
	// conflicts counts, for each pod, the conflicts in a row that its writes met.
	conflicts map[types.UID]int
	// unanswered is a status write of which nobody knows whether it was stored.
	unanswered *unanswered
	// written is when this process last wrote the status.
	written time.Time
	// lastEnd is when this process last saw a pod of the Job end.
	lastEnd time.Time
	// unreportedSince is when this process first saw failed pods whose end was not told.
	unreportedSince map[types.UID]time.Time
	// said are the events that are said once for each text.
	said map[string]bool
	// retired is when there was nothing left to do for the Job.
	retired time.Time
}

// keepRetired is how long it is remembered that a Job was ours after there was
// nothing left to do: a pod of it may still turn up, created by a request that came
// through late.
const keepRetired = 10 * time.Minute

// memory is kept by UID: a Job recreated under the same name starts fresh (JOB-20).
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

// countConflict takes a conflict about a pod, and returns how many there were in a row.
func (s *jobSync) countConflict(pod types.UID) (n int) {
	s.conflicted[pod] = true
	s.memory.update(s.uid, func(m *jobMemory) {
		if m.conflicts == nil {
			m.conflicts = map[types.UID]int{}
		}
		m.conflicts[pod]++
		n = m.conflicts[pod]
	})
	return n
}

// settleConflicts ends the series of conflicts of each pod that met none in this sync.
func (s *jobSync) settleConflicts() {
	m := s.memory.get(s.uid)
	switch {
	case m.conflicts == nil:
	case !m.ours && len(s.conflicted) == 0:
		s.memory.forget(s.uid) // The pods of a Job that is gone, or of none that is known.
	default:
		s.memory.update(s.uid, func(m *jobMemory) {
			maps.DeleteFunc(m.conflicts, func(pod types.UID, _ int) bool { return !s.conflicted[pod] })
			if len(m.conflicts) == 0 {
				m.conflicts = nil
			}
		})
	}
}

func (m memory) forget(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, uid)
}

// retire keeps only that the Job was ours, and that for a while.
func (m memory) retire(uid types.UID, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j, known := m.jobs[uid]; known && j.retired.IsZero() {
		m.jobs[uid] = jobMemory{ours: j.ours, namespace: j.namespace, retired: now}
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
