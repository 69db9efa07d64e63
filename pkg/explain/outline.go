package explain

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// Outline is what can be said about a Job from the Job alone: a row in a list.
type Outline struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// Status is kubectl's word, see Verdict.
	Status string `json:"status"`
	Fate   Fate   `json:"fate"`
	// Indexed says that completionMode is Indexed.
	Indexed bool `json:"indexed,omitempty"`
	// Completions is nil for a work queue.
	Completions *int32 `json:"completions,omitempty"`
	Parallelism *int32 `json:"parallelism,omitempty"`
	Active      int32  `json:"active"`
	Ready       *int32 `json:"ready,omitempty"`
	Terminating *int32 `json:"terminating,omitempty"`
	Succeeded   int32  `json:"succeeded"`
	Failed      int32  `json:"failed"`
	// FailedIndexes is nil when the Job does not track them; FailedIndexCount is the size of
	// the list.
	FailedIndexes    *string `json:"failedIndexes,omitempty"`
	FailedIndexCount int32   `json:"failedIndexCount,omitempty"`
	// Reason is that of the condition that decides the Status, "" if none does.
	Reason string `json:"reason,omitempty"`
	// Rule and RuleName are the rule of the podFailurePolicy behind the reason, see Verdict.
	Rule     *int32 `json:"rule,omitempty"`
	RuleName string `json:"ruleName,omitempty"`
	// ManagedBy is "" for the built-in controller.
	ManagedBy string `json:"managedBy,omitempty"`
	// Neglected says that whoever should run the Job has not worked on it, see IsNeglected.
	Neglected bool         `json:"neglected,omitempty"`
	Created   *metav1.Time `json:"created,omitempty"`
	Started   *metav1.Time `json:"started,omitempty"`
	Finished  *metav1.Time `json:"finished,omitempty"`
}

// OutlineOf reads a Job; ruleNames are as in Facts. It costs a few microseconds, and more
// only for a list of failed indexes that is long: lists are made anew for each change of
// each Job. What it says is what Explain says of the same Job, as far as the Job tells.
// Like a Report, an Outline shares memory with the Job, which must not change.
func OutlineOf(job *batchv1.Job, ruleNames []string, now time.Time) Outline {
	spec, status := &job.Spec, &job.Status
	f := fateOf(job)
	if f.byRule() {
		names, _ := reconcile.RuleNames(job, ruleNames)
		f.decodeRule(job, names)
	}
	word, decisive := statusOf(job)
	o := Outline{
		Namespace: job.Namespace, Name: job.Name, UID: string(job.UID), Status: word, Fate: f.Fate,
		Indexed: jobspec.IsIndexed(spec), Completions: spec.Completions, Parallelism: spec.Parallelism,
		Active: status.Active, Ready: status.Ready, Terminating: status.Terminating, Succeeded: status.Succeeded, Failed: status.Failed,
		FailedIndexes: status.FailedIndexes, FailedIndexCount: int32(indexset.CountTolerant(ptr.Deref(status.FailedIndexes, ""), ptr.Deref(spec.Completions, 0))),
		ManagedBy: ptr.Deref(spec.ManagedBy, ""), Neglected: IsNeglected(job, now),
		Created: timeOf(job.CreationTimestamp.Time), Started: status.StartTime, Finished: FinishedAt(job),
	}
	if decisive != nil {
		o.Reason = decisive.Reason
	}
	o.Rule, o.RuleName = f.failedBy()
	return o
}
