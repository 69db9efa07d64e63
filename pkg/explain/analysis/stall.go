package analysis

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

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
