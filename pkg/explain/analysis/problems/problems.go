// Package problems finds problems that block a Job, and other problems. Most have no influence on the decision core: images
// that cannot be pulled, quotas, a controller that does not run.
//
// Each kind of problem, or close family of kinds, has a detector in package podproblems or jobproblems. CONTRIBUTING has the
// steps to add one.
package problems

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/problems/jobproblems"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/problems/podproblems"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// detectors find the problems of one kind, or of a close family, in the order in which they are reported.
var detectors = []func(in *facts.Facts) []explain.Problem{
	// No pods are created.
	jobproblems.Suspended, jobproblems.NoParallelism, jobproblems.NoPodGroup, jobproblems.CreationRefused, jobproblems.Lost,
	// Pods do not start, or do not end.
	podproblems.Pending, podproblems.StoppedContainers, podproblems.EndedContainers, podproblems.Terminating, podproblems.ForeignFinalizers,
	// Pods succeed, and may have done half of their work.
	podproblems.ProcessesOOMKilled, podproblems.ContainersRetried, podproblems.InOutput,
	// Something is wrong with the Job itself.
	jobproblems.Deletion, jobproblems.RuleNames, jobproblems.Impossible, jobproblems.Unreadable, jobproblems.Inconsistent,
}

// Detect returns the problems that block the Job, which r runs, then the other problems.
func Detect(in *facts.Facts, r *explain.Reconciler) []explain.Problem {
	out := notReconciled(in, r)
	for _, detect := range detectors {
		out = append(out, detect(in)...)
	}
	yieldToLeader(out)
	tool := facts.ToolOf(in.Job)
	for i := range out {
		out[i].Endless = in.Spec.ActiveDeadlineSeconds == nil
		if kind, _ := out[i].MissingObject(); kind != "" && out[i].TokenOf() == "" && (tool.Before() != "" || tool.After() != "") {
			out[i].Start.Hook = tool
		}
	}
	slices.SortStableFunc(out, func(x, y explain.Problem) int { return lists.FalseFirst(!x.Blocks, !y.Blocks) })
	return out
}

// yieldToLeader makes a refusal that waits for the leader of the Job a minor problem, if another one keeps that pod from a node.
func yieldToLeader(all []explain.Problem) {
	refused := lists.First(all, func(p *explain.Problem) bool { return p.Refusal.WaitsForLeader() })
	if refused != nil && slices.ContainsFunc(all, func(p explain.Problem) bool { return p.Blocks && len(p.Pods) > 0 }) {
		refused.Blocks = false
	}
}

// Blocker returns the first problem that holds up the whole Job, or nil: there is none while pods run, or while the Job
// waits for a clock.
func Blocker(in *facts.Facts, all []explain.Problem) *explain.Problem {
	if in.Finished() {
		return nil
	}
	for i := range all {
		p := &all[i]
		if !p.Blocks {
			continue
		}
		if p.HoldsJob || !anyRuns(in, all) {
			return p
		}
	}
	return nil
}

// anyRuns reports whether a pod runs without trouble.
func anyRuns(in *facts.Facts, all []explain.Problem) bool {
	if !in.PodsRead {
		// Pods that the list did not read count as running.
		if in.Listed && in.Job.Status.Active <= int32(len(in.Active)) {
			return anyWorks(in)
		}
		return ptr.Deref(in.Job.Status.Ready, 0) > 0 || in.Listed
	}
	stopped := int32(0)
	for i := range all {
		if all[i].Kind == explain.ProblemContainerStopped {
			stopped += all[i].Count
		}
	}
	// In a pod with several containers, another one may work.
	if stopped > 0 && int(stopped) == len(in.Active) && len(in.Spec.Template.Spec.Containers) == 1 {
		return false
	}
	return anyWorks(in)
}

// anyWorks reports whether a container runs that may do the Job's work.
func anyWorks(in *facts.Facts) bool {
	return slices.ContainsFunc(in.Active, func(p *input.Pod) bool {
		if p.Phase != corev1.PodRunning {
			return false
		}
		loop, ended := in.CrashLoop(p), podproblems.EndedContainer(in, p)
		return (loop == nil || podproblems.IsBeside(p, loop)) && (ended == nil || !ended.WorkIsOver)
	})
}

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
