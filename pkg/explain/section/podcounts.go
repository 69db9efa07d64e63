package section

import (
	corev1 "k8s.io/api/core/v1"

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
	s := PodCounts{Succeeded: c.Succeeded + c.UncountedSucceeded, Active: c.Active, Ready: -1}
	if c.Ready != nil {
		s.Ready = *c.Ready
	}
	if c.Terminating != nil {
		s.Terminating = *c.Terminating
	}
	finished := r.Verdict.Fate == explain.FateFailed || r.Verdict.Fate == explain.FateComplete
	switch x := r.Indexes; {
	case c.Pods == nil || finished:
	case x != nil && x.UnknownCount == 0:
		s.Active, s.Ready, s.Terminating = x.ActiveCount, x.ReadyCount, x.TerminatingCount
	case x == nil && r.PodsOmitted == 0:
		s.count(r.Pods)
	}
	return s
}

// count counts the pods of a NonIndexed Job. Those that have succeeded, but are not in the
// status yet, are added to the ones that are.
func (c *PodCounts) count(pods []explain.PodInfo) {
	c.Active, c.Ready, c.Terminating = 0, 0, 0
	for i := range pods {
		switch p := &pods[i]; {
		case p.Counted != "":
			if p.Phase == string(corev1.PodSucceeded) && p.Counted == explain.NotCounted {
				c.Succeeded++
			}
		case p.State == "Terminating":
			c.Terminating++
		default:
			c.Active++
			if p.Ready {
				c.Ready++
			}
		}
	}
}

// Done is how much of a Job has succeeded, of how much; total is 0 for a work queue.
func (c *PodCounts) Done(r *explain.Report) (done, total int32) {
	if r.Indexes != nil {
		return r.Indexes.CompletedCount, r.Indexes.Total
	}
	if r.Job.Completions != nil {
		total = *r.Job.Completions
	}
	return c.Succeeded, total
}
