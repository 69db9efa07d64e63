package analysis

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// indexWait is an index whose latest pod failed, and that gets no other before until.
type indexWait struct {
	index int32
	until time.Time
}

// indexWaits are the indexes in back-off, in order.
func (a *analysis) indexWaits() []indexWait {
	var out []indexWait
	for _, w := range a.plan.Findings.AwaitReplacement {
		if a.Now.Before(w.Until) {
			out = append(out, indexWait{w.Pod.Index, w.Until})
		}
	}
	return out
}

// indexBackoff is when the first of the indexes in back-off may go on, and which they are.
func (a *analysis) indexBackoff() (time.Time, indexset.Set) {
	var first time.Time
	var waiting []int32
	for _, w := range a.indexWaits() {
		waiting = append(waiting, w.index)
		if first.IsZero() || w.until.Before(first) {
			first = w.until
		}
	}
	return first, indexset.Of(waiting...)
}

// roomForRetries says that an index gets its next pod as soon as its back-off has ended: no
// other pod has to end before.
func (a *analysis) roomForRetries() bool { return a.plan.Findings.RetryHeld }
