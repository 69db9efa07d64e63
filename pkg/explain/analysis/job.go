package analysis

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

func jobOf(f *explain.Input) explain.Job {
	job, spec := f.Job, &f.Job.Spec
	j := explain.Job{
		Namespace: job.Namespace, Name: job.Name, UID: string(job.UID),
		Created: explain.TimeOf(job.CreationTimestamp.Time), Started: knownTime(job.Status.StartTime), Finished: FinishedAt(job),
		CompletionMode: string(jobspec.CompletionMode(spec)),
		Completions:    spec.Completions, Parallelism: spec.Parallelism, BackoffLimit: spec.BackoffLimit,
		BackoffLimitPerIndex: spec.BackoffLimitPerIndex, MaxFailedIndexes: spec.MaxFailedIndexes,
		ActiveDeadlineSeconds: spec.ActiveDeadlineSeconds, TTLSecondsAfterFinished: spec.TTLSecondsAfterFinished,
		PodReplacementPolicy: string(jobspec.PodReplacementPolicy(spec)),
		RestartPolicy:        string(spec.Template.Spec.RestartPolicy),
		Suspend:              jobspec.IsSuspended(spec),
		ManagedBy:            ptr.Deref(spec.ManagedBy, ""),
	}
	if owner := metav1.GetControllerOfNoCopy(job); owner != nil {
		j.Owner = &explain.Owner{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name}
	}
	if j.Started != nil {
		end := f.Now
		if j.Finished != nil {
			end = j.Finished.Time
		}
		seconds := max(0, end.Unix()-j.Started.Unix()) // A Duration ends after 292 years.
		j.DurationSeconds = &seconds
	}
	return j
}

// FinishedAt is when the Job became complete or failed, nil while it is neither. A failed
// Job has no completionTime: its end is the transition of Failed.
func FinishedAt(job *batchv1.Job) *metav1.Time {
	if t := knownTime(job.Status.CompletionTime); t != nil {
		return t
	}
	if failed := reconcile.TrueCondition(job, batchv1.JobFailed); failed != nil {
		return knownTime(&failed.LastTransitionTime)
	}
	return nil
}

// knownTime is nil for the zero time, which the API accepts.
func knownTime(t *metav1.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return t
}

// statusRunning is the word for a Job whose conditions decide nothing.
const statusRunning = "Running"

// Status is the word of kubectl's printer for the state of a Job, with its precedence.
func Status(job *batchv1.Job) string {
	word, _ := statusOf(job)
	return word
}

// statusOf is that word, and the condition that it follows from, nil if it follows from
// none.
func statusOf(job *batchv1.Job) (string, *batchv1.JobCondition) {
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if c := reconcile.TrueCondition(job, t); c != nil {
			return string(t), c
		}
	}
	if job.DeletionTimestamp != nil {
		return "Terminating", nil
	}
	for _, t := range []batchv1.JobConditionType{batchv1.JobSuspended, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		if c := reconcile.TrueCondition(job, t); c != nil {
			return string(t), c
		}
	}
	return statusRunning, nil
}

func (a *analysis) conditions() []explain.Condition {
	var out []explain.Condition
	for _, c := range a.job.Status.Conditions {
		out = append(out, explain.Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: explain.TimeOf(c.LastTransitionTime.Time),
		})
	}
	return out
}

// OutlineOf reads a Job; ruleNames are as in Input. It costs a few microseconds, and more
// only for a list of failed indexes that is long: lists are rebuilt for each change of
// each Job. What it says is what Explain says of the same Job, as far as the Job shows it.
// Like a Report, an Outline shares memory with the Job, which must not change.
func OutlineOf(job *batchv1.Job, ruleNames []string, now time.Time) explain.Outline {
	spec, status := &job.Spec, &job.Status
	f := outcomeOf(job)
	if f.byRule() {
		names, _ := reconcile.RuleNames(job, ruleNames)
		f.decodeRule(job, names)
	}
	word, decisive := statusOf(job)
	o := explain.Outline{
		Namespace: job.Namespace, Name: job.Name, UID: string(job.UID), Status: word, Fate: f.Fate,
		Indexed: jobspec.IsIndexed(spec), Completions: spec.Completions, Parallelism: spec.Parallelism,
		Active: status.Active, Ready: status.Ready, Terminating: status.Terminating, Succeeded: status.Succeeded, Failed: status.Failed,
		FailedIndexes: status.FailedIndexes, FailedIndexCount: failedIndexCount(job),
		ManagedBy: ptr.Deref(spec.ManagedBy, ""), Neglected: IsNeglected(job, now),
		Created: explain.TimeOf(job.CreationTimestamp.Time), Started: knownTime(status.StartTime), Finished: FinishedAt(job),
	}
	o.WillFail = f.Fate == explain.FateOpen && o.FailedIndexCount > 0 && spec.SuccessPolicy == nil
	if decisive != nil {
		o.Reason = decisive.Reason
	}
	o.Rule, o.RuleName = f.failedBy()
	return o
}

// StallOf is what blocks the Job as far as a list can know (Input.Listed), nil if nothing does. It
// is the problem that the verdict names, except for those that have a status of their own, such as
// Suspended.
func StallOf(f explain.Input) *explain.Stall {
	if !MayStall(f.Job) {
		return nil
	}
	p := situationOf(analyse(&f, explain.Options{})).blocker()
	if p == nil || p.Kind == explain.ProblemSuspended {
		return nil
	}
	return &explain.Stall{Kind: p.Kind, Reason: words.ProblemReason(p), Text: p.Text, Since: p.Since}
}

// MayStall reports whether the Job is worth a closer look: nothing is decided, and no pod is ready.
func MayStall(job *batchv1.Job) bool {
	return (ptr.Deref(job.Status.Ready, 0) == 0 || jobspec.Parallelism(&job.Spec) == 0) && Status(job) == statusRunning
}

// failedIndexCount is 0 for a Job that does not track failed indexes, whatever its status says.
func failedIndexCount(job *batchv1.Job) int32 {
	if job.Spec.BackoffLimitPerIndex == nil {
		return 0
	}
	return int32(indexset.CountTolerant(ptr.Deref(job.Status.FailedIndexes, ""), ptr.Deref(job.Spec.Completions, 0)))
}
