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

// EndOf is the end of a Job as it was seen last, nil for never. gone is how it went, "" while it is there: a Job may finish
// with the change that deletes it.
func EndOf(job *batchv1.Job, gone End) End {
	if job == nil {
		return gone
	}
	return cmp.Or(End(reconcile.FinishedCondition(job)), gone)
}

// EndOfOutline is EndOf for what a list shows of a Job.
func EndOfOutline(job *explain.Outline, gone End) End {
	switch {
	case job == nil:
		return gone
	case job.Fate == explain.FateComplete:
		return Complete
	case job.Fate == explain.FateFailed:
		return Failed
	}
	return gone
}
