// Package jobproblems finds problems of a Job itself, including obstacles to creating its pods.
package jobproblems

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/successpolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// recently is how long an event counts as current.
const recently = 15 * time.Minute

// Lost returns the pods that are gone without a trace in the status.
func Lost(in *facts.Facts) []explain.Problem {
	p := explain.Problem{Kind: explain.ProblemPodsLost}
	for _, pod := range in.Lost() {
		p.AddPod(pod)
	}
	if p.Count == 0 {
		return nil
	}
	return []explain.Problem{p}
}

// CreationRefused finds the reason why the API server refuses the Job's pods.
func CreationRefused(in *facts.Facts) []explain.Problem {
	refused, created := in.LastJobEvent("FailedCreate"), in.LastJobEvent("SuccessfulCreate")
	if refused == nil || in.Decision.Decided() || jobspec.IsSuspended(in.Spec) || in.Job.DeletionTimestamp != nil || in.Now.Sub(refused.Last) > recently || createdSince(in, refused) {
		return nil
	}
	why := facts.RefusalIn(in, refused)
	return one(explain.Problem{
		Kind: explain.ProblemCreationRefused, Blocks: true, MayContinue: why.Kind == meaning.RefusalQuota, Since: explain.TimeOf(refusedSince(in, created)), Count: int32(len(in.Plan.Create)),
		Refusal: why, Details: []string{refused.Message},
	})
}

// createdSince reports whether pods were created after the API server refused one. A list has no event of the creation: it
// uses the status, which is written when pods come and go.
func createdSince(in *facts.Facts, refused *input.Event) bool {
	if created := in.LastJobEvent("SuccessfulCreate"); created != nil && created.Last.After(refused.Last) {
		return true
	}
	if !in.Listed {
		return false
	}
	status := &in.Job.Status
	wanted := min(jobspec.Parallelism(in.Spec), ptr.Deref(in.Spec.Completions, math.MaxInt32)-status.Succeeded)
	_, written := facts.LastStatusWrite(in.Job)
	if status.Active >= wanted || written == nil {
		return status.Active >= wanted
	}
	// Pods that are ready later change the status, too. Without a back-off, pods do not lack for long unless they are refused.
	lacksForLong := status.Failed == 0 && in.Now.Sub(written.Time) > facts.Slack
	return written.After(refused.Last.Add(facts.Slack)) && !lacksForLong
}

// refusedSince returns when the first pod was refused since the last creation. The built-in controller writes an event for
// each pod, whose name is in the message, instead of counting in one event.
func refusedSince(in *facts.Facts, created *input.Event) time.Time {
	var first time.Time
	for i := range in.Events {
		e := &in.Events[i]
		if e.Pod != "" || e.Reason != "FailedCreate" || created != nil && e.Last.Before(created.Last) {
			continue
		}
		began := e.Began()
		if created != nil && began.Before(created.Last) {
			began = created.Last // The series of events began before the last creation.
		}
		if first.IsZero() || began.Before(first) {
			first = began
		}
	}
	return first
}

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
	case kueue.Manages(in.Job) || kueue.Suspended(by) && in.ManagingOwner() == nil || kueue.HoldOf(in.Workload, in.Now) != nil:
		heldByKueue(in, &p)
	case in.ManagingOwner() != nil:
		p.Suspension.Owner = in.ManagingOwner()
		if kueue.Suspended(by) { // Of the owner's controller, the name says nothing.
			p.Suspension.Manager, p.Suspension.OwnerRuns = by, in.OwnerRuns
		}
	case facts.OwnerOf(in.Job) != nil && by == "kube-controller-manager": // It creates the Jobs of a CronJob.
		p.Suspension.Owner = facts.OwnerOf(in.Job)
	default:
		p.Suspension.Manager = by
	}
	if p.Controller != explain.Kueue {
		p.Suspension.Stopped = stoppedBySuspension(in)
	}
	return one(p)
}

// stoppedBySuspension returns the number of pods that the controller deleted when the Job was suspended.
func stoppedBySuspension(in *facts.Facts) (n int32) {
	for i := range in.Deletions {
		if d := &in.Deletions[i]; in.StopReason(d.At) == explain.StoppedSuspended {
			n += d.Count
		}
	}
	return n
}

// heldByKueue adds the reason why Kueue does not admit the Job, from its Workload, or else from the event with which Kueue
// stopped it.
func heldByKueue(in *facts.Facts, p *explain.Problem) {
	p.Controller = explain.Kueue
	p.Suspension.Queue, p.Suspension.Hold = facts.HeldByKueue(in)
	if h := p.Suspension.Hold; h != nil && h.Since.Before(p.Since) {
		p.Since = h.Since
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
	unread := slices.ContainsFunc(in.Gaps, func(g input.Gap) bool { return g.What == kueue.Workloads })
	p.Suspension.NoWorkload = p.Suspension.Queue != "" && in.Workload == nil && len(p.Details) == 0 && !in.Listed && !unread && in.Now.Sub(in.Job.CreationTimestamp.Time) > facts.Slack
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

// RuleNames finds an invalid annotation of KEP-4443, which has no effect (PFN-25).
func RuleNames(in *facts.Facts) []explain.Problem {
	if len(in.Plan.Findings.Violations) == 0 {
		return nil
	}
	p := explain.Problem{Kind: explain.ProblemInvalidRuleNames}
	for _, v := range in.Plan.Findings.Violations {
		p.Details = append(p.Details, v.String())
	}
	return one(p)
}

// Impossible finds a successPolicy whose rules can no longer be met, because too many indexes have failed.
func Impossible(in *facts.Facts) []explain.Problem {
	canBeMet := func(r successpolicy.Progress) bool { return !r.Inert && !r.OutOfReach }
	if in.Spec.SuccessPolicy == nil || in.Decision.Decided() || slices.ContainsFunc(in.Plan.Findings.SuccessRules, canBeMet) {
		return nil
	}
	return one(explain.Problem{Kind: explain.ProblemSuccessImpossible})
}

// Unreadable finds values that the controller does not support, so that it ignores the Job.
func Unreadable(in *facts.Facts) []explain.Problem {
	found := &in.Plan.Findings
	switch {
	case found.UnknownMode != "":
		return one(explain.Problem{Kind: explain.ProblemUnknownMode, Blocks: true, HoldsJob: true, Asked: string(found.UnknownMode)})
	case found.BadRetryIndexes != "":
		return one(explain.Problem{Kind: explain.ProblemBadRetryIndexes, Blocks: true, HoldsJob: true, Asked: found.BadRetryIndexes})
	}
	return nil
}

// Inconsistent finds a stored status that cannot be read, or contradicts itself.
func Inconsistent(in *facts.Facts) []explain.Problem {
	var details []string
	found := &in.Plan.Findings
	if n := found.DamagedIndexes; n > 0 {
		details = append(details, fmt.Sprintf(words.DamagedIndexes, wording.Plural(n, "part", "parts")))
	}
	if f := found.CountKept; f != nil {
		details = append(details, fmt.Sprintf(words.CountKept, wording.Thousands(f.Succeeded), wording.Count(f.Completed, "indexes")))
	}
	if f := found.TooManySucceeded; f != nil {
		details = append(details, fmt.Sprintf(words.TooManySucceeded, wording.Count(f.Succeeded, "pods"), wording.Thousands(f.Completions)))
	}
	if len(details) == 0 {
		return nil
	}
	return one(explain.Problem{Kind: explain.ProblemInconsistent, Details: details})
}

func one(p explain.Problem) []explain.Problem { return []explain.Problem{p} }

// OthersFinalizers returns the Job's finalizers that the garbage collector does not remove.
func OthersFinalizers(p *explain.Problem) []string {
	return slices.DeleteFunc(slices.Clone(p.Deletion.Finalizers), func(f string) bool {
		return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
	})
}

// longDeletion is more time than the garbage collector needs for a Job whose pods end in time.
const longDeletion = 5 * time.Minute

// HoldsEndedJob reports whether an obstacle keeps a Job whose outcome is decided from being deleted: other finalizers, no
// pods left to wait for, or a long wait.
func HoldsEndedJob(in *facts.Facts, p *explain.Problem) bool {
	if p.Kind != explain.ProblemDeleting {
		return false
	}
	lasts := p.Since != nil && in.Now.Sub(p.Since.Time) > longDeletion
	return p.Deletion.NoPods || len(OthersFinalizers(p)) > 0 || lasts
}

// Deletion finds a Job whose deletion waits for finalizers.
func Deletion(in *facts.Facts) []explain.Problem {
	if in.Job.DeletionTimestamp == nil || len(in.Job.Finalizers) == 0 {
		return nil
	}
	p := explain.Problem{Kind: explain.ProblemDeleting, Blocks: true, Since: explain.TimeOf(in.Job.DeletionTimestamp.Time), Deletion: explain.Deletion{Finalizers: in.Job.Finalizers}}
	if slices.Contains(in.Job.Finalizers, metav1.FinalizerDeleteDependents) {
		for i := range in.Pods {
			p.AddPod(in.Pods[i].Name)
		}
		p.Deletion.NoPods = in.PodsRead && p.Count == 0 && len(in.Job.Finalizers) == 1
	}
	return one(p)
}
