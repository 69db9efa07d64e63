package feed

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// How Jobs are lost: a Job was Deleted before it was seen to finish, or Replaced by another Job of the same name.
const (
	Deleted  = reconcile.Outcome("Deleted")
	Replaced = reconcile.Outcome("Replaced")
)

// EndOf returns how a Job ended, "" if it has not, given its last known state (nil if it was never seen) and how it was lost
// ("" if it exists). A Job may finish with the update that deletes it.
func EndOf(job *batchv1.Job, gone reconcile.Outcome) reconcile.Outcome {
	if job == nil {
		return gone
	}
	return cmp.Or(reconcile.Outcome(reconcile.FinishedCondition(job)), gone)
}
