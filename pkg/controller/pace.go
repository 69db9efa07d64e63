package controller

import (
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// batcher decides how long the sync after an event waits (JOB-53).
type batcher struct {
	period time.Duration

	mu sync.Mutex
	// next holds the time of the latest batched sync granted to each Job, past or future.
	next map[types.UID]time.Time
}

func newBatcher(period time.Duration) *batcher {
	return &batcher{period: period, next: map[types.UID]time.Time{}}
}

// delay returns the wait before a batched sync: none after a quiet period, otherwise until a period has passed since
// the previous batched sync.
func (b *batcher) delay(job types.UID, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	granted, known := b.next[job]
	switch {
	case known && granted.After(now):
	case !known || now.Sub(granted) >= b.period:
		granted = now
	default:
		granted = granted.Add(b.period)
	}
	b.next[job] = granted
	return granted.Sub(now)
}

func (b *batcher) forget(job types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.next, job)
}

// urgency is how soon a change requires a sync.
type urgency uint8

const (
	ignore urgency = iota
	batched
	atOnce
)

// jobUrgency returns atOnce for a new Job, a changed spec (JOB-54, detected by the generation) and a deletion. Other
// changes wait.
func jobUrgency(c observe.JobChange) urgency {
	switch {
	case c.Old == nil, c.New == nil:
		return atOnce
	case isRespecified(c.Old, c.New):
		return atOnce
	}
	return batched
}

// isRespecified reports whether the spec differs between two versions of a Job, seen by the generation, or whether the Job
// began to be deleted.
func isRespecified(a, b *batchv1.Job) bool {
	return a.Generation != b.Generation || a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero()
}

// podUrgency returns ignore for changes that decisions do not depend on, and atOnce for the end of the last active pod:
// nothing happens in the Job until we react. With a podFailurePolicy, a pod has ended only once its status shows the
// reason.
func podUrgency(c observe.PodChange, policy bool) urgency {
	if c.Old != nil && c.New != nil && !c.Relabeled && sameForDecisions(*c.Old, *c.New) {
		return ignore
	}
	if c.Active == 0 && isOver(c.New, policy) && (c.Old == nil || !isOver(c.Old, policy)) {
		return atOnce
	}
	return batched
}

// isOver reports whether no more changes of the pod are expected; p is nil if the pod is gone.
func isOver(p *reconcile.Pod, policy bool) bool {
	return p == nil || p.IsTerminal() && (!policy || !p.Unreported)
}

func sameForDecisions(a, b reconcile.Pod) bool {
	return a.Phase == b.Phase && a.Index == b.Index && a.Deleting == b.Deleting && a.Finalizer == b.Finalizer &&
		a.Ready == b.Ready && a.Scheduled == b.Scheduled && a.Restarts == b.Restarts && a.Unreported == b.Unreported
}
