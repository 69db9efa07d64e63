package section

import (
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// PodCounts are how many pods do what, from the pods where they could be read: the status
// lags behind them.
type PodCounts struct {
	// Succeeded is for NonIndexed Jobs; Report.Indexes has that of an Indexed one.
	Succeeded int32
	Active    int32
	// Ready is negative if it is not known.
	Ready, Terminating int32
}

// CountPods counts the pods of a Job.
func CountPods(r *explain.Report) PodCounts {
	c := &r.Counts
	return PodCounts{
		Succeeded: c.Completed, Active: ptr.Deref(c.ActivePods, c.Active),
		Ready:       ptr.Deref(c.ReadyPods, ptr.Deref(c.Ready, -1)),
		Terminating: ptr.Deref(c.TerminatingPods, ptr.Deref(c.Terminating, 0)),
	}
}

// Done is how much of a Job has succeeded, of how much: of a retry, what it runs. total is 0 for a work queue.
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
