package jobproblems

import (
	"cmp"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// Suspended finds a Job that is suspended by spec.suspend.
func Suspended(in *facts.Facts) []explain.Problem {
	if !jobspec.IsSuspended(in.Spec) || in.Finished() {
		return nil
	}
	p := explain.Problem{Kind: explain.ProblemSuspended, Blocks: true, HoldsJob: true, MayContinue: true}
	if c := reconcile.TrueCondition(in.Job, batchv1.JobSuspended); c != nil {
		p.Since = explain.TimeOf(c.LastTransitionTime.Time)
	}
	by, _ := facts.SuspendedBy(in.Job)
	_, p.Suspension.Raising = in.Job.Annotations[retry.RaiseAnnotation]
	switch {
	case kueue.Manages(in.Job) || in.Workload != nil && kueue.HoldOf(in.Workload) != nil:
		heldByKueue(in, &p)
	case in.ManagingOwner() != nil:
		p.Suspension.Owner = in.ManagingOwner()
		if kueue.Suspended(by) { // Of the owner's controller, the name says nothing.
			p.Suspension.Manager, p.Suspension.OwnerRuns = by, in.OwnerRuns
		}
	default:
		p.Suspension.Manager = by
	}
	return one(p)
}

// heldByKueue adds the reason why Kueue does not admit the Job, from its Workload, or else from the event with which Kueue
// stopped it.
func heldByKueue(in *facts.Facts, p *explain.Problem) {
	p.Controller, p.Suspension.Queue = explain.Kueue, in.Job.Labels[kueue.QueueLabel]
	if w := in.Workload; w != nil {
		p.Suspension.Queue = cmp.Or(p.Suspension.Queue, w.Queue)
		p.Suspension.Hold = kueue.HoldOf(w)
	}
	if p.Suspension.Hold != nil && p.Suspension.Hold.Message != "" {
		p.Details = []string{p.Suspension.Hold.Message}
		return
	}
	// An event from before Kueue last started the Job is outdated.
	stopped, started := in.LastJobEvent("Stopped"), in.LastJobEvent("Started")
	if p.Suspension.Hold == nil && stopped != nil && strings.Contains(stopped.Source, "kueue") && (started == nil || !started.Last.After(stopped.Last)) {
		p.Details = []string{stopped.Message}
	}
}

// NoParallelism finds a Job with parallelism 0, which gets no pods.
func NoParallelism(in *facts.Facts) []explain.Problem {
	if jobspec.Parallelism(in.Spec) > 0 || in.Finished() || in.Decision.Decided() || jobspec.IsSuspended(in.Spec) {
		return nil
	}
	return one(explain.Problem{Kind: explain.ProblemNoParallelism, Blocks: true, HoldsJob: true})
}

// NoPodGroup finds a Job that requests a PodGroup, which our controller does not create (JOB-64).
func NoPodGroup(in *facts.Facts) []explain.Problem {
	asked := reconcile.UnsupportedScheduling(in.Job)
	if asked == "" || in.SchedulingDone() || in.Finished() || in.Decision.Decided() || in.Job.DeletionTimestamp != nil {
		return nil
	}
	return one(explain.Problem{Kind: explain.ProblemNoPodGroup, Blocks: true, Asked: asked, Controller: in.ManagedBy()})
}
