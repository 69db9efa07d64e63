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
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// problems are what keeps the Job from going on, then what else is wrong.
func (a *analysis) problems() []Problem {
	var out []Problem
	for _, find := range []func() []Problem{
		a.notReconciled, a.suspended, a.noParallelism, a.noPodGroup, a.creationRefused, a.pendingPods, a.failedContainers, a.terminatingPods, a.foreignFinalizers, a.deletion,
		a.ruleNames, a.impossible, a.unknownMode, a.inconsistent,
	} {
		out = append(out, find()...)
	}
	slices.SortStableFunc(out, func(x, y Problem) int { return compareBool(y.Blocks, x.Blocks) })
	return out
}

func one(p Problem) []Problem { return []Problem{p} }

// notReconciled: nobody works on the Job, has not since it was created, or no longer does.
func (a *analysis) notReconciled() []Problem {
	r := &a.r.Reconciler
	overdue, since := a.overdue()
	switch {
	case a.neglected():
		p := Problem{Kind: ProblemNotReconciled, Blocks: true, Since: timeOf(a.job.CreationTimestamp.Time)}
		p.Text = fmt.Sprintf("nothing has worked on the Job in the %s since it was created; its managedBy names %s, which does not seem to run", age(a.Now.Sub(p.Since.Time)), a.controllerName())
		if a.controllerName() == builtIn {
			p.Text = fmt.Sprintf("nothing has worked on the Job in the %s since it was created; kube-controller-manager does not seem to run, or its Job controller is switched off", age(a.Now.Sub(p.Since.Time)))
		}
		return one(p)
	case r.Alive == NotAlive && !a.finished():
		p := Problem{Kind: ProblemControllerGone, Blocks: true, Count: overdue, Pods: a.overduePods(), Since: timeOf(since)}
		if a.Lease != nil && p.Since == nil {
			p.Since = timeOf(a.Lease.Renewed)
		}
		p.Text = fmt.Sprintf("%s does not seem to run: %s", a.controllerName(), r.Text)
		return one(p)
	case overdue > 0:
		return one(Problem{
			Kind: ProblemFinalizerStuck, Count: overdue, Pods: a.overduePods(), Since: timeOf(since),
			Text: fmt.Sprintf("%s of the Job still %s the finalizer batch.kubernetes.io/job-tracking, so deleting them does not end; %s should have removed it",
				times(overdue, "ended pod", "ended pods"), plural(int(overdue), "holds", "hold"), a.controllerName()),
		})
	}
	return nil
}

// Kueue names the queue of a Job in this label, and resumes the Job when there is room.
const kueueLabel = "kueue.x-k8s.io/queue-name"

// ofKueue says that Kueue decides when the Job runs.
func (a *analysis) ofKueue() bool {
	return a.job.Labels[kueueLabel] != "" || strings.HasPrefix(ptr.Deref(a.spec.ManagedBy, ""), "kueue.x-k8s.io/")
}

// managingOwner is the owner if it may suspend and resume the Job: a CronJob does not.
func (a *analysis) managingOwner() *Owner {
	if o := a.r.Job.Owner; o != nil && o.Kind != "CronJob" {
		return o
	}
	return nil
}

// suspended: spec.suspend holds the Job.
func (a *analysis) suspended() []Problem {
	if !jobspec.IsSuspended(a.spec) || a.finished() {
		return nil
	}
	p := Problem{Kind: ProblemSuspended, Blocks: true}
	if c := reconcile.TrueCondition(a.job, "Suspended"); c != nil {
		p.Since = timeOf(c.LastTransitionTime.Time)
	}
	by := a.suspendedBy()
	switch queue := a.job.Labels[kueueLabel]; {
	case queue == "" && a.ofKueue():
		p.Text = "Kueue holds the Job suspended"
	case queue != "":
		p.Text = fmt.Sprintf("Kueue holds the Job suspended until there is room in the queue %s", queue)
	case a.managingOwner() != nil:
		p.Text = fmt.Sprintf("the Job is suspended (spec.suspend), which is up to its owner %s %s", a.r.Job.Owner.Kind, a.r.Job.Owner.Name)
	case by != "":
		p.Text = fmt.Sprintf("the Job is suspended: %s set spec.suspend", by)
	default:
		p.Text = "the Job is suspended (spec.suspend)"
	}
	return one(p)
}

// noParallelism: parallelism 0 asks for no pod at all.
func (a *analysis) noParallelism() []Problem {
	if jobspec.Parallelism(a.spec) > 0 || a.finished() || a.fate.decided() || jobspec.IsSuspended(a.spec) {
		return nil
	}
	return one(Problem{Kind: ProblemNoParallelism, Blocks: true, Text: "parallelism is 0, so no pod is created"})
}

// noPodGroup: the Job asks for a PodGroup, and our controller makes none (JOB-64).
func (a *analysis) noPodGroup() []Problem {
	asked := reconcile.UnsupportedScheduling(a.job)
	if asked == "" || a.schedulingDone() || a.finished() || a.fate.decided() || a.job.DeletionTimestamp != nil {
		return nil
	}
	who := a.controllerName()
	if who == builtIn {
		who = "its controller"
	}
	return one(Problem{Kind: ProblemNoPodGroup, Blocks: true, Text: fmt.Sprintf("no pods are created, as the Job asks for workload-aware scheduling (%s), which %s does not support", asked, who)})
}

// schedulingDone reports whether the Job's controller sees to spec.scheduling. Ours may stand
// in for the built-in one, and has said so then.
func (a *analysis) schedulingDone() bool {
	return a.controllerName() == builtIn && a.lastJobEvent(reconcile.ReasonSchedulingNotSupported) == nil
}

// refusals are the causes of a FailedCreate that can be told apart by their message.
var refusals = []struct{ fragment, text string }{
	{"exceeded quota", "a ResourceQuota of the namespace is used up"},
	{"must specify", "a ResourceQuota of the namespace wants requests or limits that the pod template does not have"},
	{"violates PodSecurity", "the Pod Security level of the namespace does not allow the pod template"},
	{" usage per ", "a LimitRange of the namespace does not allow the pod template"},
	{"limit to request ratio", "a LimitRange of the namespace does not allow the pod template"},
	{"serviceaccount", "the service account of the pod template cannot be used"},
	{"service account", "the service account of the pod template cannot be used"},
	{"ValidatingAdmissionPolicy", "an admission policy of the cluster denies it"},
	{"admission webhook", "an admission webhook of the cluster denies it, or does not answer"},
	{"failed calling webhook", "an admission webhook of the cluster does not answer"},
	{"is forbidden", "the API server forbids it"},
	{"is invalid", "the API server finds the pod template invalid"},
}

// recently is how long an event tells of the present.
const recently = 15 * time.Minute

// creationRefused: the API server takes no pod of the Job.
func (a *analysis) creationRefused() []Problem {
	refused, created := a.lastJobEvent("FailedCreate"), a.lastJobEvent("SuccessfulCreate")
	if refused == nil || a.finished() || a.fate.decided() || a.Now.Sub(refused.Last) > recently || created != nil && created.Last.After(refused.Last) {
		return nil
	}
	why := "the API server refuses it"
	for _, r := range refusals {
		if strings.Contains(refused.Message, r.fragment) {
			why = r.text
			break
		}
	}
	return one(Problem{
		Kind: ProblemCreationRefused, Blocks: true, Since: timeOf(refused.First), Count: int32(len(a.plan.Create)),
		Text: "pods of the Job cannot be created: " + why, Details: []string{refused.Message},
	})
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
	var names []string
	for _, pod := range a.terminal {
		if !pod.Deleting || len(pod.ForeignFinalizers) == 0 {
			continue
		}
		p.add(pod.Name)
		for _, f := range pod.ForeignFinalizers {
			if !slices.Contains(names, f) {
				names = append(names, f)
			}
		}
		if p.Since == nil || pod.DeletedAt.Before(p.Since.Time) {
			p.Since = timeOf(pod.DeletedAt)
		}
	}
	if p.Count == 0 {
		return nil
	}
	p.Text = fmt.Sprintf("%s deleted and ended, and %s kept by the %s %s of another controller; the Job does not wait for that",
		times(p.Count, "pod is", "pods are"), plural(int(p.Count), "is", "are"), plural(len(names), "finalizer", "finalizers"), strings.Join(names, ", "))
	return one(p)
}

// add counts a pod, and keeps some names.
func (p *Problem) add(pod string) {
	p.Count++
	if len(p.Pods) < maxExamples {
		p.Pods = append(p.Pods, pod)
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// deletion: the Job itself is being deleted, and something holds it.
func (a *analysis) deletion() []Problem {
	if a.job.DeletionTimestamp == nil || len(a.job.Finalizers) == 0 {
		return nil
	}
	p := Problem{Kind: ProblemDeleting, Blocks: true, Since: timeOf(a.job.DeletionTimestamp.Time)}
	switch {
	case slices.Contains(a.job.Finalizers, metav1.FinalizerDeleteDependents):
		p.Text = "the Job is being deleted, and waits for its pods to go first (foreground deletion)"
		for i := range a.pods {
			p.add(a.pods[i].Name)
		}
	case slices.Contains(a.job.Finalizers, metav1.FinalizerOrphanDependents):
		p.Text = "the Job is being deleted, and its pods are to stay (orphan deletion)"
	default:
		p.Text = fmt.Sprintf("the Job is being deleted, and waits for the %s %s", plural(len(a.job.Finalizers), "finalizer", "finalizers"), strings.Join(a.job.Finalizers, ", "))
	}
	return one(p)
}

// ruleNames: the annotation of KEP-4443 is not legal, and counts for nothing (PFN-25).
func (a *analysis) ruleNames() []Problem {
	if len(a.plan.Findings.Violations) == 0 {
		return nil
	}
	p := Problem{Kind: ProblemInvalidRuleNames, Text: fmt.Sprintf("the names of the failure rules in annotation %s are not legal, so none of them is used; reasons name rules by index", rulename.Annotation)}
	for _, v := range a.plan.Findings.Violations {
		p.Details = append(p.Details, v.String())
	}
	return one(p)
}

// impossible: so many indexes have failed that no rule of the successPolicy can be met.
func (a *analysis) impossible() []Problem {
	policy := a.r.SuccessPolicy
	if policy == nil || a.fate.decided() || slices.ContainsFunc(policy.Rules, func(r SuccessRule) bool { return !r.Impossible }) {
		return nil
	}
	return one(Problem{Kind: ProblemSuccessImpossible, Text: "no rule of the successPolicy can be met any more; the Job ends when all its indexes have"})
}

func (a *analysis) unknownMode() []Problem {
	mode := a.plan.Findings.UnknownMode
	if mode == "" {
		return nil
	}
	return one(Problem{Kind: ProblemUnknownMode, Blocks: true, Text: fmt.Sprintf("completionMode %s is not known to this version; no controller of this version works on the Job", mode)})
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
	return one(Problem{Kind: ProblemInconsistent, Text: "the status of the Job is not what its pods say", Details: details})
}

// blocker is the first problem that holds the whole Job up, or nil: none does while pods
// run, or while it waits for a clock.
func (a *analysis) blocker() *Problem {
	if a.finished() {
		return nil
	}
	for i := range a.r.Problems {
		p := &a.r.Problems[i]
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
		return p.Phase == "Running" && p.waiting(crashLoop...) == nil
	})
}
