package explain

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// indexWait is an index whose latest pod failed, and that gets no other before until.
type indexWait struct {
	index int32
	until time.Time
}

// indexWaits are the indexes in back-off, in order. The decision core tells of them only if
// it has room for a pod; an index whose pod failed waits whether there is room or not
// (BLI-22: the clock runs from the end of that pod, and ignored failures delay like others).
func (a *analysis) indexWaits() []indexWait {
	policy := reconcile.DefaultConfig().Backoff
	var out []indexWait
	for _, f := range a.findings(reconcile.FindingDelayed) {
		p := f.Observed
		until := p.FinishedAt.Add(policy.Delay(saturatingAdd(saturatingAdd(p.Failures, p.Ignored), 1)))
		if a.Now.Before(until) {
			out = append(out, indexWait{f.Index, until})
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
func (a *analysis) roomForRetries() bool { return len(a.findings(reconcile.FindingIndexBackoff)) > 0 }
