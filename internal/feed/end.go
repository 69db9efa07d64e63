package feed

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// End is how a Job ended, for those who wait for it; "" for one that has not ended.
type End string

// A Job has finished if it is Complete or Failed. Otherwise it was Deleted before it was seen to finish, or Replaced: then
// there is another one of its name.
const (
	Complete = End(batchv1.JobComplete)
	Failed   = End(batchv1.JobFailed)
	Deleted  = End("Deleted")
	Replaced = End("Replaced")
)

// EndOf is the end of a Job as it was seen last, nil for never. gone is how it was removed, "" while it exists: a Job may finish
// with the change that deletes it.
func EndOf(job *batchv1.Job, gone End) End {
	if job == nil {
		return gone
	}
	return cmp.Or(End(reconcile.FinishedCondition(job)), gone)
}

// EndOfFate is the end of a Job of which only an Outline or a Report is known.
func EndOfFate(fate explain.Fate) End {
	if fate == explain.FateComplete || fate == explain.FateFailed {
		return End(fate)
	}
	return ""
}
