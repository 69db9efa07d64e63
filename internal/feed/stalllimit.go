package feed

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// StallLimit decides when Jobs have been stalled for so long that waiting for them is pointless.
type StallLimit struct {
	After time.Duration
	since map[types.UID]time.Time // when each Job was first seen stalled, without interruption
}

// Exceeded reports whether every open Job has been stalled for at least After, without interruption, and none may continue by
// itself. The time counts from the first call that saw the Job stalled, not from Stall.Since, because the Job may have waited
// in a queue before.
func (l *StallLimit) Exceeded(now time.Time, open []*batchv1.Job, stallOf func(*batchv1.Job) *explain.Stall) bool {
	since := make(map[types.UID]time.Time, len(l.since))
	exceeded := len(open) > 0
	for _, job := range open {
		stall := stallOf(job)
		if stall == nil || stall.MayContinue {
			exceeded = false
			continue
		}
		began, known := l.since[job.UID]
		if !known {
			began = now
		}
		since[job.UID] = began
		exceeded = exceeded && now.Sub(began) >= l.After
	}
	l.since = since
	return exceeded
}

// Restart restarts the Job's stall time at the next call of Exceeded.
func (l *StallLimit) Restart(job *batchv1.Job) { delete(l.since, job.UID) }
