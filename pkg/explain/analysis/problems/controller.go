package problems

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
)

// notReconciled finds a Job that no controller works on: never since it was created, or no longer.
func notReconciled(in *facts.Facts, r *explain.Reconciler) []explain.Problem {
	p := explain.Problem{Controller: r.Name()}
	switch {
	case r.Sign == explain.SignNeverWorked:
		p.Kind, p.Blocks, p.HoldsJob, p.Since = explain.ProblemNotReconciled, true, true, explain.TimeOf(in.Job.CreationTimestamp.Time)
	case r.Alive == explain.NotAlive && !in.Finished():
		p.Kind, p.Blocks, p.HoldsJob, p.Reconciler = explain.ProblemControllerGone, true, true, r
		p.Count, p.Pods, p.Since = r.Overdue, lateExamples(in), r.OverdueSince
		if in.Lease != nil && p.Since == nil {
			p.Since = explain.TimeOf(in.Lease.Renewed)
		}
	case r.Sign == explain.SignLeaseUnclear && !in.Finished():
		p.Kind, p.MayContinue, p.Reconciler = explain.ProblemControllerGone, true, r
	case r.Overdue > 0:
		p.Kind, p.Count, p.Pods, p.Since = explain.ProblemFinalizerStuck, r.Overdue, lateExamples(in), r.OverdueSince
		p.HoldsJob = !in.Finished()
	default:
		return nil
	}
	return []explain.Problem{p}
}

// lateExamples returns pods that a controller should have recorded or released by now.
func lateExamples(in *facts.Facts) []string {
	var names []string
	for _, p := range in.Terminal {
		if in.IsOverdue(p) {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), explain.MaxExamples)]
}
