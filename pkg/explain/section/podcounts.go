package section

import (
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// PodCounts holds the numbers of pods by state, from the pods if they could be read: the status lags behind them.
type PodCounts struct {
	// Succeeded is for NonIndexed Jobs; for Indexed Jobs, see Report.Indexes.
	Succeeded int32
	Active    int32
	// Ready is negative if it is unknown.
	Ready, Terminating int32
}

// CountPods returns the numbers of a Job's pods.
func CountPods(r *explain.Report) PodCounts {
	c := &r.Counts
	return PodCounts{
		Succeeded: c.Completed, Active: ptr.Deref(c.ActivePods, c.Active),
		Ready:       ptr.Deref(c.ReadyPods, ptr.Deref(c.Ready, -1)),
		Terminating: ptr.Deref(c.TerminatingPods, ptr.Deref(c.Terminating, 0)),
	}
}

// Done returns the successes so far and the total, both without the indexes that a retry does not run. total is 0 for a work
// queue.
func (c *PodCounts) Done(r *explain.Report) (done, total int32) {
	switch x := r.Indexes; {
	case x != nil && x.Rerun > 0:
		return x.RerunCompleted, x.Rerun
	case x != nil:
		return x.CompletedCount, x.Total
	}
	if r.Job.Completions != nil {
		total = *r.Job.Completions
	}
	return c.Succeeded, total
}
