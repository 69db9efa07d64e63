package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// findProblems are what keeps the Job from going on, then what else is wrong.
func (a *numbers) findProblems() []Problem {
	var out []Problem
	for _, find := range []func() []Problem{
		a.notReconciled, a.suspended, a.noParallelism, a.noPodGroup, a.creationRefused, a.pendingPods, a.failedContainers, a.terminatingPods, a.foreignFinalizers, a.deletion,
		a.ruleNames, a.impossible, a.unknownMode, a.inconsistent,
	} {
		out = append(out, find()...)
	}
	slices.SortStableFunc(out, func(x, y Problem) int { return compareBool(y.Blocks, x.Blocks) })
	for i := range out {
		out[i].Text = out[i].text(a.Now, &a.reconciler)
	}
	return out
}

func one(p Problem) []Problem { return []Problem{p} }

// notReconciled: nobody works on the Job, has not since it was created, or no longer does.
func (a *numbers) notReconciled() []Problem {
	overdue, since := a.overdue()
	p := Problem{Controller: a.managedBy()}
	switch {
	case a.neglected():
		p.Kind, p.Blocks, p.Since = ProblemNotReconciled, true, timeOf(a.job.CreationTimestamp.Time)
	case a.reconciler.Alive == NotAlive && !a.finished():
		p.Kind, p.Blocks, p.Count, p.Pods, p.Since = ProblemControllerGone, true, overdue, a.overduePods(), timeOf(since)
		if a.Lease != nil && p.Since == nil {
			p.Since = timeOf(a.Lease.Renewed)
		}
	case overdue > 0:
		p.Kind, p.Count, p.Pods, p.Since = ProblemFinalizerStuck, overdue, a.overduePods(), timeOf(since)
	default:
		return nil
	}
	return one(p)
}

const (
	// Kueue names the queue of a Job in this label, and resumes the Job when there is room.
	kueueLabel = "kueue.x-k8s.io/queue-name"
	// kueue is Problem.Controller of a Job that Kueue holds suspended.
	kueue = "kueue.x-k8s.io"
)

// ofKueue says that Kueue decides when the Job runs.
func (a *analysis) ofKueue() bool {
	return a.job.Labels[kueueLabel] != "" || strings.HasPrefix(ptr.Deref(a.spec.ManagedBy, ""), kueue+"/")
}

// managingOwner is the owner if it may suspend and resume the Job: a CronJob does not.
func (a *numbers) managingOwner() *Owner {
	if o := a.jobView.Owner; o != nil && o.Kind != "CronJob" {
		return o
	}
	return nil
}

// suspended: spec.suspend holds the Job.
func (a *numbers) suspended() []Problem {
	if !jobspec.IsSuspended(a.spec) || a.finished() {
		return nil
	}
	p := Problem{Kind: ProblemSuspended, Blocks: true}
	if c := reconcile.TrueCondition(a.job, "Suspended"); c != nil {
		p.Since = timeOf(c.LastTransitionTime.Time)
	}
	switch {
	case a.ofKueue():
		p.Controller, p.Queue = kueue, a.job.Labels[kueueLabel]
	case a.managingOwner() != nil:
		p.Owner = a.managingOwner()
	default:
		p.Manager = a.suspendedBy()
	}
	return one(p)
}

// noParallelism: parallelism 0 asks for no pod at all.
func (a *analysis) noParallelism() []Problem {
	if jobspec.Parallelism(a.spec) > 0 || a.finished() || a.fate.decided() || jobspec.IsSuspended(a.spec) {
		return nil
	}
	return one(Problem{Kind: ProblemNoParallelism, Blocks: true})
}

// noPodGroup: the Job asks for a PodGroup, and our controller makes none (JOB-64).
func (a *analysis) noPodGroup() []Problem {
	asked := reconcile.UnsupportedScheduling(a.job)
	if asked == "" || a.schedulingDone() || a.finished() || a.fate.decided() || a.job.DeletionTimestamp != nil {
		return nil
	}
	return one(Problem{Kind: ProblemNoPodGroup, Blocks: true, Asked: asked, Controller: a.managedBy()})
}

// schedulingDone reports whether the Job's controller sees to spec.scheduling. Ours may stand
// in for the built-in one, and has said so then.
func (a *analysis) schedulingDone() bool {
	return a.managedBy() == "" && a.lastJobEvent(reconcile.ReasonSchedulingNotSupported) == nil
}

// refusals are the causes of a FailedCreate, by what the API server's message has.
var refusals = []struct{ fragment, reason string }{
	{"exceeded quota", RefusalQuota},
	{"must specify", RefusalQuotaNeeds},
	{"violates PodSecurity", RefusalPodSecurity},
	{" usage per ", RefusalLimitRange},
	{"limit to request ratio", RefusalLimitRange},
	{"serviceaccount", RefusalServiceAccount},
	{"service account", RefusalServiceAccount},
	{"ValidatingAdmissionPolicy", RefusalPolicy},
	{"admission webhook", RefusalWebhook},
	{"failed calling webhook", RefusalWebhookDown},
	{"is forbidden", RefusalForbidden},
	{"is invalid", RefusalInvalid},
}

// recently is how long an event tells of the present.
const recently = 15 * time.Minute

// creationRefused: the API server takes no pod of the Job.
func (a *analysis) creationRefused() []Problem {
	refused, created := a.lastJobEvent("FailedCreate"), a.lastJobEvent("SuccessfulCreate")
	if refused == nil || a.finished() || a.fate.decided() || a.Now.Sub(refused.Last) > recently || created != nil && created.Last.After(refused.Last) {
		return nil
	}
	p := Problem{
		Kind: ProblemCreationRefused, Blocks: true, Since: timeOf(refused.First), Count: int32(len(a.plan.Create)),
		Reason: RefusalOther, Details: []string{refused.Message},
	}
	for _, r := range refusals {
		if strings.Contains(refused.Message, r.fragment) {
			p.Reason = r.reason
			break
		}
	}
	return one(p)
}

func (a *analysis) lastJobEvent(reason string) *Event {
	var last *Event
	for i := range a.Events {
		if e := &a.Events[i]; e.Pod == "" && e.Reason == reason && (last == nil || e.Last.After(last.Last)) {
			last = e
		}
	}
	return last
}

// foreignFinalizers: somebody else keeps an ended pod from going away.
func (a *analysis) foreignFinalizers() []Problem {
	p := Problem{Kind: ProblemForeignFinalizer}
	for _, pod := range a.terminal {
		if !pod.Deleting || len(pod.ForeignFinalizers) == 0 {
			continue
		}
		p.add(pod.Name)
		for _, f := range pod.ForeignFinalizers {
			if !slices.Contains(p.Finalizers, f) {
				p.Finalizers = append(p.Finalizers, f)
			}
		}
		if p.Since == nil || pod.DeletedAt.Before(p.Since.Time) {
			p.Since = timeOf(pod.DeletedAt)
		}
	}
	if p.Count == 0 {
		return nil
	}
	return one(p)
}

// add counts a pod, and keeps some names.
func (p *Problem) add(pod string) {
	p.Count++
	if len(p.Pods) < maxExamples {
		p.Pods = append(p.Pods, pod)
	}
}

// deletion: the Job itself is being deleted, and something holds it.
func (a *analysis) deletion() []Problem {
	if a.job.DeletionTimestamp == nil || len(a.job.Finalizers) == 0 {
		return nil
	}
	p := Problem{Kind: ProblemDeleting, Blocks: true, Since: timeOf(a.job.DeletionTimestamp.Time), Finalizers: a.job.Finalizers}
	if slices.Contains(a.job.Finalizers, metav1.FinalizerDeleteDependents) {
		for i := range a.pods {
			p.add(a.pods[i].Name)
		}
	}
	return one(p)
}

// ruleNames: the annotation of KEP-4443 is not legal, and counts for nothing (PFN-25).
func (a *analysis) ruleNames() []Problem {
	if len(a.plan.Findings.Violations) == 0 {
		return nil
	}
	p := Problem{Kind: ProblemInvalidRuleNames}
	for _, v := range a.plan.Findings.Violations {
		p.Details = append(p.Details, v.String())
	}
	return one(p)
}

// impossible: so many indexes have failed that no rule of the successPolicy can be met.
func (a *numbers) impossible() []Problem {
	policy := a.success
	if policy == nil || a.fate.decided() || slices.ContainsFunc(policy.Rules, func(r SuccessRule) bool { return !r.Impossible }) {
		return nil
	}
	return one(Problem{Kind: ProblemSuccessImpossible})
}

func (a *analysis) unknownMode() []Problem {
	mode := a.plan.Findings.UnknownMode
	if mode == "" {
		return nil
	}
	return one(Problem{Kind: ProblemUnknownMode, Blocks: true, Asked: string(mode)})
}

// inconsistent: the stored status cannot be read, or contradicts itself.
func (a *analysis) inconsistent() []Problem {
	var details []string
	found := &a.plan.Findings
	if n := found.DamagedIndexes; n > 0 {
		details = append(details, fmt.Sprintf("%s of a list of indexes cannot be read", times(n, "part", "parts")))
	}
	if f := found.CountKept; f != nil {
		details = append(details, fmt.Sprintf("succeeded says %d, and %d indexes are complete", f.Succeeded, f.Completed))
	}
	if f := found.TooManySucceeded; f != nil {
		details = append(details, fmt.Sprintf("%d pods succeeded, and completions asks for %d", f.Succeeded, f.Completions))
	}
	if len(details) == 0 {
		return nil
	}
	return one(Problem{Kind: ProblemInconsistent, Details: details})
}

// blocker is the first problem that holds the whole Job up, or nil: none does while pods
// run, or while it waits for a clock.
func (a *situation) blocker() *Problem {
	if a.finished() {
		return nil
	}
	for i := range a.problems {
		p := &a.problems[i]
		if !p.Blocks {
			continue
		}
		if p.wholeJob() || !a.moves() {
			return p
		}
	}
	return nil
}

// wholeJob says that nothing goes on, whatever the pods do.
func (p *Problem) wholeJob() bool {
	switch p.Kind {
	case ProblemNotReconciled, ProblemControllerGone, ProblemSuspended, ProblemNoParallelism, ProblemUnknownMode:
		return true
	}
	return false
}

// moves says that a pod runs without trouble.
func (a *analysis) moves() bool {
	if !a.PodsRead {
		return ptr.Deref(a.job.Status.Ready, 0) > 0
	}
	return slices.ContainsFunc(a.active, func(p *Pod) bool {
		return p.Phase == "Running" && p.WaitingFor(crashLoop...) == nil
	})
}
