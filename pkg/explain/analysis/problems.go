package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// findProblems are what blocks the Job, then what else is wrong.
func (a *numbers) findProblems() []explain.Problem {
	var out []explain.Problem
	for _, find := range []func() []explain.Problem{
		a.notReconciled, a.suspended, a.noParallelism, a.noPodGroup, a.creationRefused, a.pendingPods, a.failedContainers, a.terminatingPods, a.foreignFinalizers, a.deletion,
		a.ruleNames, a.impossible, a.unreadable, a.inconsistent,
	} {
		out = append(out, find()...)
	}
	slices.SortStableFunc(out, func(x, y explain.Problem) int { return compareBool(y.Blocks, x.Blocks) })
	for i := range out {
		out[i].Text = words.ProblemText(&out[i], a.Now, &a.reconciler)
	}
	return out
}

func one(p explain.Problem) []explain.Problem { return []explain.Problem{p} }

// notReconciled: no controller works on the Job, has not since it was created, or no longer does.
func (a *numbers) notReconciled() []explain.Problem {
	overdue, since := a.overdue()
	p := explain.Problem{Controller: a.reconciler.Name()}
	switch {
	case a.neglected():
		p.Kind, p.Blocks, p.Since = explain.ProblemNotReconciled, true, explain.TimeOf(a.job.CreationTimestamp.Time)
	case a.reconciler.Alive == explain.NotAlive && !a.finished():
		p.Kind, p.Blocks, p.Count, p.Pods, p.Since = explain.ProblemControllerGone, true, overdue, a.overduePods(), explain.TimeOf(since)
		if a.Lease != nil && p.Since == nil {
			p.Since = explain.TimeOf(a.Lease.Renewed)
		}
	case overdue > 0:
		p.Kind, p.Count, p.Pods, p.Since = explain.ProblemFinalizerStuck, overdue, a.overduePods(), explain.TimeOf(since)
	default:
		return nil
	}
	return one(p)
}

const (
	// Kueue names the queue of a Job in this label, and resumes the Job when there is room.
	kueueLabel = "kueue.x-k8s.io/queue-name"
)

// ofKueue reports whether Kueue decides when the Job runs.
func (a *analysis) ofKueue() bool {
	return a.job.Labels[kueueLabel] != "" || strings.HasPrefix(ptr.Deref(a.spec.ManagedBy, ""), explain.Kueue+"/")
}

// managingOwner is the owner if it may suspend and resume the Job: a CronJob does not.
func (a *numbers) managingOwner() *explain.Owner {
	if o := a.jobView.Owner; o != nil && o.Kind != "CronJob" {
		return o
	}
	return nil
}

// suspended: spec.suspend holds the Job.
func (a *numbers) suspended() []explain.Problem {
	if !jobspec.IsSuspended(a.spec) || a.finished() {
		return nil
	}
	p := explain.Problem{Kind: explain.ProblemSuspended, Blocks: true}
	if c := reconcile.TrueCondition(a.job, "Suspended"); c != nil {
		p.Since = explain.TimeOf(c.LastTransitionTime.Time)
	}
	switch {
	case a.ofKueue():
		p.Controller, p.Queue = explain.Kueue, a.job.Labels[kueueLabel]
	case a.managingOwner() != nil:
		p.Owner = a.managingOwner()
	default:
		p.Manager = a.suspendedBy()
	}
	return one(p)
}

// noParallelism: parallelism 0 asks for no pod at all.
func (a *analysis) noParallelism() []explain.Problem {
	if jobspec.Parallelism(a.spec) > 0 || a.finished() || a.outcome.decided() || jobspec.IsSuspended(a.spec) {
		return nil
	}
	return one(explain.Problem{Kind: explain.ProblemNoParallelism, Blocks: true})
}

// noPodGroup: the Job asks for a PodGroup, and our controller makes none (JOB-64).
func (a *analysis) noPodGroup() []explain.Problem {
	asked := reconcile.UnsupportedScheduling(a.job)
	if asked == "" || a.schedulingDone() || a.finished() || a.outcome.decided() || a.job.DeletionTimestamp != nil {
		return nil
	}
	return one(explain.Problem{Kind: explain.ProblemNoPodGroup, Blocks: true, Asked: asked, Controller: a.managedBy()})
}

// schedulingDone reports whether the Job's controller sees to spec.scheduling. Ours may stand
// in for the built-in one, and has said so then.
func (a *analysis) schedulingDone() bool {
	return a.managedBy() == "" && a.lastJobEvent(reconcile.ReasonSchedulingNotSupported) == nil
}

// recently is how long an event counts as current.
const recently = 15 * time.Minute

// creationRefused: the API server takes no pod of the Job.
func (a *analysis) creationRefused() []explain.Problem {
	refused, created := a.lastJobEvent("FailedCreate"), a.lastJobEvent("SuccessfulCreate")
	if refused == nil || a.finished() || a.outcome.decided() || a.Now.Sub(refused.Last) > recently || a.createdSince(refused) {
		return nil
	}
	why := eventtext.RefusalOf(refused.Message)
	return one(explain.Problem{
		Kind: explain.ProblemCreationRefused, Blocks: true, Since: explain.TimeOf(a.refusedSince(created)), Count: int32(len(a.plan.Create)),
		Reason: why.Reason, RefusedBy: why.By, Refusal: why.Message, Details: []string{refused.Message},
	})
}

// createdSince reports whether pods were created after the API server refused one. A list has no
// event of that: it goes by the status, which is written when pods come and go.
func (a *analysis) createdSince(refused *explain.Event) bool {
	if created := a.lastJobEvent("SuccessfulCreate"); created != nil && created.Last.After(refused.Last) {
		return true
	}
	if !a.Listed {
		return false
	}
	status := &a.job.Status
	wanted := min(jobspec.Parallelism(a.spec), ptr.Deref(a.spec.Completions, math.MaxInt32)-status.Succeeded)
	_, written := lastStatusWrite(a.job.ManagedFields)
	return status.Active >= wanted || written != nil && written.After(refused.Last.Add(slack))
}

// refusedSince is when the first pod was refused after one was created. The built-in controller
// writes an event for each pod, whose name is in the message, instead of counting one.
func (a *analysis) refusedSince(created *explain.Event) time.Time {
	var first time.Time
	for i := range a.Events {
		e := &a.Events[i]
		if e.Pod != "" || e.Reason != "FailedCreate" || created != nil && e.Last.Before(created.Last) {
			continue
		}
		began := firstTime(e.First, e.Last)
		if created != nil && began.Before(created.Last) {
			began = created.Last // The series is older than the pod that was created in between.
		}
		if first.IsZero() || began.Before(first) {
			first = began
		}
	}
	return first
}

func (a *analysis) lastJobEvent(reason string) *explain.Event {
	var last *explain.Event
	for i := range a.Events {
		if e := &a.Events[i]; e.Pod == "" && e.Reason == reason && (last == nil || e.Last.After(last.Last)) {
			last = e
		}
	}
	return last
}

// foreignFinalizers: another controller keeps an ended pod from being removed.
func (a *analysis) foreignFinalizers() []explain.Problem {
	p := explain.Problem{Kind: explain.ProblemForeignFinalizer}
	for _, pod := range a.terminal {
		if !pod.Deleting || len(pod.ForeignFinalizers) == 0 {
			continue
		}
		addPod(&p, pod.Name)
		for _, f := range pod.ForeignFinalizers {
			if !slices.Contains(p.Finalizers, f) {
				p.Finalizers = append(p.Finalizers, f)
			}
		}
		if p.Since == nil || pod.DeletedAt.Before(p.Since.Time) {
			p.Since = explain.TimeOf(pod.DeletedAt)
		}
	}
	if p.Count == 0 {
		return nil
	}
	return one(p)
}

// addPod counts a pod, and keeps some names.
func addPod(p *explain.Problem, pod string) {
	p.Count++
	if len(p.Pods) < maxExamples {
		p.Pods = append(p.Pods, pod)
	}
}

// deletion: the Job itself is being deleted, and something holds it.
func (a *analysis) deletion() []explain.Problem {
	if a.job.DeletionTimestamp == nil || len(a.job.Finalizers) == 0 {
		return nil
	}
	p := explain.Problem{Kind: explain.ProblemDeleting, Blocks: true, Since: explain.TimeOf(a.job.DeletionTimestamp.Time), Finalizers: a.job.Finalizers}
	if slices.Contains(a.job.Finalizers, metav1.FinalizerDeleteDependents) {
		for i := range a.pods {
			addPod(&p, a.pods[i].Name)
		}
	}
	return one(p)
}

// ruleNames: the annotation of KEP-4443 is not legal, and counts for nothing (PFN-25).
func (a *analysis) ruleNames() []explain.Problem {
	if len(a.plan.Findings.Violations) == 0 {
		return nil
	}
	p := explain.Problem{Kind: explain.ProblemInvalidRuleNames}
	for _, v := range a.plan.Findings.Violations {
		p.Details = append(p.Details, v.String())
	}
	return one(p)
}

// impossible: so many indexes have failed that no rule of the successPolicy can be met.
func (a *numbers) impossible() []explain.Problem {
	policy := a.success
	if policy == nil || a.outcome.decided() || slices.ContainsFunc(policy.Rules, func(r explain.SuccessRule) bool { return !r.Impossible }) {
		return nil
	}
	return one(explain.Problem{Kind: explain.ProblemSuccessImpossible})
}

// unreadable: the controller does not understand what the Job asks for, and leaves it alone.
func (a *analysis) unreadable() []explain.Problem {
	found := &a.plan.Findings
	switch {
	case found.UnknownMode != "":
		return one(explain.Problem{Kind: explain.ProblemUnknownMode, Blocks: true, Asked: string(found.UnknownMode)})
	case found.BadRetryIndexes != "":
		return one(explain.Problem{Kind: explain.ProblemBadRetryIndexes, Blocks: true, Asked: found.BadRetryIndexes})
	}
	return nil
}

// inconsistent: the stored status cannot be read, or contradicts itself.
func (a *analysis) inconsistent() []explain.Problem {
	var details []string
	found := &a.plan.Findings
	if n := found.DamagedIndexes; n > 0 {
		details = append(details, fmt.Sprintf("%s of a list of indexes cannot be read", words.Times(n, "part", "parts")))
	}
	if f := found.CountKept; f != nil {
		details = append(details, fmt.Sprintf("succeeded says %s, and %s are complete", words.Number(f.Succeeded), words.Count(f.Completed, "indexes")))
	}
	if f := found.TooManySucceeded; f != nil {
		details = append(details, fmt.Sprintf("%s succeeded, and completions asks for %s", words.Count(f.Succeeded, "pods"), words.Number(f.Completions)))
	}
	if len(details) == 0 {
		return nil
	}
	return one(explain.Problem{Kind: explain.ProblemInconsistent, Details: details})
}

// blocker is the first problem that holds the whole Job up, or nil: none does while pods
// run, or while it waits for a clock.
func (a *situation) blocker() *explain.Problem {
	if a.finished() {
		return nil
	}
	for i := range a.problems {
		p := &a.problems[i]
		if !p.Blocks {
			continue
		}
		if holdsWholeJob(p) || !a.moves() {
			return p
		}
	}
	return nil
}

// holdsWholeJob reports whether nothing happens, whatever the pods do.
func holdsWholeJob(p *explain.Problem) bool {
	switch p.Kind {
	case explain.ProblemNotReconciled, explain.ProblemControllerGone, explain.ProblemSuspended, explain.ProblemNoParallelism,
		explain.ProblemUnknownMode, explain.ProblemBadRetryIndexes:
		return true
	}
	return false
}

// moves reports whether a pod runs without trouble.
func (a *analysis) moves() bool {
	if !a.PodsRead {
		// Pods that are active and not pending run, as far as a list can know.
		return ptr.Deref(a.job.Status.Ready, 0) > 0 || a.Listed && a.job.Status.Active > int32(len(a.active))
	}
	return slices.ContainsFunc(a.active, func(p *explain.Pod) bool {
		return p.Phase == "Running" && p.WaitingFor(crashLoop...) == nil
	})
}
