package feed

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// End is how a Job ended, for verbs that wait; "" while the Job has not ended.
type End string

// A Job that is Complete or Failed has finished. Otherwise it was Deleted before it was seen to finish, or Replaced by
// another Job of the same name.
const (
	Complete = End(batchv1.JobComplete)
	Failed   = End(batchv1.JobFailed)
	Deleted  = End("Deleted")
	Replaced = End("Replaced")
)

// EndOf returns the end of a Job, given its last known state (nil if it was never seen) and how it was removed ("" if it
// exists). A Job may finish with the update that deletes it.
func EndOf(job *batchv1.Job, gone End) End {
	if job == nil {
		return gone
	}
	return cmp.Or(End(reconcile.FinishedCondition(job)), gone)
}

// EndOfFate returns the end of a Job of which only an Outline or a Report is available.
func EndOfFate(fate explain.Fate) End {
	if fate == explain.FateComplete || fate == explain.FateFailed {
		return End(fate)
	}
	return ""
}
