package analysis

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// OutlineOf reads a Job; ruleNames are as in Facts. It costs a few microseconds, and more
// only for a list of failed indexes that is long: lists are made anew for each change of
// each Job. What it says is what Explain says of the same Job, as far as the Job tells.
// Like a Report, an Outline shares memory with the Job, which must not change.
func OutlineOf(job *batchv1.Job, ruleNames []string, now time.Time) explain.Outline {
	spec, status := &job.Spec, &job.Status
	f := fateOf(job)
	if f.byRule() {
		names, _ := reconcile.RuleNames(job, ruleNames)
		f.decodeRule(job, names)
	}
	word, decisive := statusOf(job)
	o := explain.Outline{
		Namespace: job.Namespace, Name: job.Name, UID: string(job.UID), Status: word, Fate: f.Fate,
		Indexed: jobspec.IsIndexed(spec), Completions: spec.Completions, Parallelism: spec.Parallelism,
		Active: status.Active, Ready: status.Ready, Terminating: status.Terminating, Succeeded: status.Succeeded, Failed: status.Failed,
		FailedIndexes: status.FailedIndexes, FailedIndexCount: int32(indexset.CountTolerant(ptr.Deref(status.FailedIndexes, ""), ptr.Deref(spec.Completions, 0))),
		ManagedBy: ptr.Deref(spec.ManagedBy, ""), Neglected: IsNeglected(job, now),
		Created: explain.TimeOf(job.CreationTimestamp.Time), Started: status.StartTime, Finished: FinishedAt(job),
	}
	if decisive != nil {
		o.Reason = decisive.Reason
	}
	o.Rule, o.RuleName = f.failedBy()
	return o
}
