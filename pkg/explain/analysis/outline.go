package analysis

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/problems"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/problems/jobproblems"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/reconciler"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// FinishedAt returns when the Job became complete or failed, nil while it is neither.
func FinishedAt(job *batchv1.Job) *metav1.Time { return facts.FinishedAt(job) }

// IsNeglected reports whether a Job is so old without any status that no controller seems to work on it, as with a mistyped
// managedBy (MGB-12). If its pods are known, the report detects this sooner.
func IsNeglected(job *batchv1.Job, now time.Time) bool { return reconciler.IsNeglected(job, now) }

// Status returns the word of kubectl's printer for the state of a Job, with the same precedence.
func Status(job *batchv1.Job) string {
	word, _ := facts.StatusOf(job)
	return word
}

// OutlineOf returns the outline of a Job; ruleNames are as in Input. It takes a few microseconds, more only for a long list
// of failed indexes, because lists are rebuilt for each change of each Job. It agrees with Explain as far as the Job alone
// shows. Like a Report, an Outline shares memory with the Job, which must not change.
func OutlineOf(job *batchv1.Job, ruleNames []string, now time.Time) explain.Outline {
	spec, status := &job.Spec, &job.Status
	end := facts.DecisionOf(job)
	if end.EndedBy == explain.EndedByRule {
		names, _ := reconcile.RuleNames(job, ruleNames)
		end = end.WithRule(job, names)
	}
	word, decisive := facts.StatusOf(job)
	o := explain.Outline{
		Namespace: job.Namespace, Name: job.Name, UID: string(job.UID), Status: word, Outcome: end.Outcome,
		Indexed: jobspec.IsIndexed(spec), Completions: spec.Completions, Parallelism: spec.Parallelism,
		Active: status.Active, Ready: status.Ready, Terminating: status.Terminating, Succeeded: status.Succeeded, Failed: status.Failed,
		UncountedFailed: uncountedFailed(job),
		FailedIndexes:   status.FailedIndexes, FailedIndexCount: failedIndexCount(job),
		ManagedBy: ptr.Deref(spec.ManagedBy, ""), Neglected: IsNeglected(job, now),
		Created: explain.TimeOf(job.CreationTimestamp.Time), Started: facts.KnownTime(status.StartTime), Finished: facts.FinishedAt(job),
	}
	o.WillFail = end.Outcome == reconcile.OutcomeOpen && o.FailedIndexCount > 0 && spec.SuccessPolicy == nil
	if decisive != nil {
		o.Reason = decisive.Reason
	}
	o.EndedBy = end.EndedBy
	o.Rule, o.RuleName = end.FailedBy()
	o.Retry, o.Owner, o.Manual = retryOf(job), facts.OwnerOf(job), input.IsManual(job)
	return o
}

// retryOf returns nil for a Job that is not a retry, and for a retry whose creation was interrupted, because it runs nothing.
func retryOf(job *batchv1.Job) *explain.RetryOf {
	attempt, first := retry.AttemptOf(job), job.Annotations[retry.UIDAnnotation]
	if attempt == 0 || first == "" || retry.IsPending(job) {
		return nil
	}
	of := &explain.RetryOf{Name: retry.RootOf(job), UID: first, Attempt: attempt}
	of.Rerun, of.Completed = retry.Progress(job)
	return of
}

// StallOf returns the problem that blocks the Job as far as a list can detect it (Input.Listed), nil if there is none. It
// is the problem that the verdict names, except problems with a status of their own, such as Suspended.
func StallOf(input input.Input) *explain.Stall {
	if !MayStall(input.Job) {
		return nil
	}
	in := facts.Of(input)
	who := reconciler.Identify(in)
	p := problems.Blocker(in, problems.Detect(in, &who))
	if p == nil || p.Kind == explain.ProblemSuspended {
		return nil
	}
	return stallBy(p, in.Now)
}

func stallBy(p *explain.Problem, now time.Time) *explain.Stall {
	return &explain.Stall{
		Kind: p.Kind, Reason: words.ProblemReason(p), Text: words.ProblemText(p, now), Brief: words.ProblemBrief(p), Since: p.Since,
		// Unscheduled pods get no node for want of room, quota or claims; a queue and a gate are other kinds.
		MayContinue: p.MayContinue, Unscheduled: p.Kind == explain.ProblemUnschedulable || p.Refusal != nil && p.Refusal.Kind == meaning.RefusalQuota,
	}
}

// RefusedOf returns the reason why some of the Job's pods cannot be created, with their number, although the Job is not stalled;
// nil if there is none. It needs the warnings about the Job only.
func RefusedOf(input input.Input) *explain.Stall {
	if !LacksPods(input.Job) || len(input.Events) == 0 {
		return nil
	}
	in := facts.Of(input)
	refused := jobproblems.CreationRefused(in)
	if len(refused) == 0 {
		return nil
	}
	stall := stallBy(&refused[0], in.Now)
	stall.Brief = wording.Join(": ", wording.Plural(lackingPods(input.Job), "pod waits", "pods wait"), stall.Brief)
	return stall
}

// LacksPods reports whether the Job has fewer pods than it may run now: for a moment after a pod ends, for a while in a back-off,
// and for long if pods cannot be created.
func LacksPods(job *batchv1.Job) bool {
	return job.Status.StartTime != nil && !jobspec.IsSuspended(&job.Spec) && Status(job) == facts.StatusRunning && lackingPods(job) > 0
}

// lackingPods returns how many more pods the Job may run now.
func lackingPods(job *batchv1.Job) int32 {
	spec, status := &job.Spec, &job.Status
	wanted := jobspec.Parallelism(spec)
	switch {
	case spec.Completions != nil:
		wanted = min(wanted, *spec.Completions-status.Succeeded-failedIndexCount(job))
	case status.Succeeded > 0: // Of a work queue: it creates no more pods.
		return 0
	}
	return max(0, wanted-status.Active-ptr.Deref(status.Terminating, 0))
}

// MayStall reports whether the Job is worth a closer look: its outcome is open, and no pod is ready, or its containers may be
// restarted: in a crash loop, a pod is ready each time its container runs.
func MayStall(job *batchv1.Job) bool {
	isIdle := ptr.Deref(job.Status.Ready, 0) == 0 || jobspec.Parallelism(&job.Spec) == 0
	return (isIdle || restarts(&job.Spec.Template.Spec)) && Status(job) == facts.StatusRunning
}

// restarts reports whether the kubelet may restart containers of the pod, other than sidecars.
func restarts(pod *corev1.PodSpec) bool {
	return pod.RestartPolicy == corev1.RestartPolicyOnFailure || slices.ContainsFunc(pod.Containers, func(c corev1.Container) bool { return c.RestartPolicy != nil })
}

// HasFailures reports whether the Job's failures are worth a closer look: the status counts some, or may not count them yet,
// and the Job is not complete.
func HasFailures(job *batchv1.Job) bool {
	// An index may be in back-off: its failed pod is counted once it has its next pod, and one of the places for running pods may be its own.
	mayHide := job.Spec.BackoffLimitPerIndex != nil && job.Status.StartTime != nil && !jobspec.IsSuspended(&job.Spec) && lackingPods(job) > 0
	return (job.Status.Failed > 0 || uncountedFailed(job) > 0 || mayHide) && facts.DecisionOf(job).Outcome != reconcile.OutcomeComplete
}

// uncountedFailed returns the number of failed pods that the status has recorded, but not counted yet.
func uncountedFailed(job *batchv1.Job) int32 {
	if u := job.Status.UncountedTerminatedPods; u != nil {
		return int32(len(u.Failed))
	}
	return 0
}

// maxWhy is the maximum number of causes that a list shows for a Job.
const maxWhy = 2

// WhyOf returns the causes of the pods' failures as far as a list can detect them (Input.Listed), nil if there are none.
func WhyOf(input input.Input) *explain.Why {
	if !HasFailures(input.Job) {
		return nil
	}
	in := facts.Of(input)
	counted := account.Of(in, failures.Find(in, explain.Options{}), explain.Options{})
	why := &explain.Why{Failed: counted.Seen(), Partial: !input.PodsRead}
	left := why.Failed
	for i := range counted.Causes {
		c := counted.Causes[i]
		if c.Stopped != "" || c.Consequence || len(why.Causes) == maxWhy {
			continue
		}
		if c.Action != string(batchv1.PodFailurePolicyActionIgnore) { // The list has a column with the number of failures.
			c.Count = min(c.Count, left)
			left -= c.Count
		}
		why.Causes = append(why.Causes, c)
	}
	switch {
	case len(why.Causes) > 0:
	case why.Failed == 0 && counted.CountedStopped > 0:
		return why
	default:
		return nil
	}
	// The back-off is unknown while pods that were not read are running.
	if b := in.Plan.Findings.Backoff; b != nil && input.Job.Status.Active == 0 && b.Until.After(input.Now) {
		why.RetryAt = explain.TimeOf(b.Until)
	}
	why.Text = words.WhyFailed(why, time.Time{}, words.WhyWidth)
	return why
}

// failedIndexCount returns 0 for a Job that does not track failed indexes, whatever its status contains.
func failedIndexCount(job *batchv1.Job) int32 {
	if job.Spec.BackoffLimitPerIndex == nil {
		return 0
	}
	return int32(indexset.CountTolerant(ptr.Deref(job.Status.FailedIndexes, ""), ptr.Deref(job.Spec.Completions, 0)))
}
