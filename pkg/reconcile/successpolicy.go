package reconcile

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/successpolicy"
)

// meetsSuccessPolicy ends the Job by spec.successPolicy (KEP-3998). It counts only successes that this plan's status
// records, so that the condition and its evidence are stored together (SUC-08).
func meetsSuccessPolicy(job *jobView, pods *podLists, ended endedSets, claiming bool, plan *planner) outcome {
	if !job.hasSuccessPolicy() {
		return outcome{}
	}
	recorded := job.completedIndexes.Union(indexesOf(recordable(job, pods)))
	rule, progress := successpolicy.Evaluate(job.spec.SuccessPolicy, recorded, ended.failed, job.completions)
	plan.Findings.SuccessRules = progress
	switch {
	case rule == successpolicy.NoRule:
		return outcome{}
	// The status that has the condition must record all failed pods. After SuccessCriteriaMet, a failed pod that a user
	// deletes would look like a pod that is deleted because of the condition (SUC-14).
	case claiming:
		return outcome{} // Strays may have failed. Nothing is created before they are adopted.
	case len(pods.failed)+len(pods.unreported) > pods.room(job.cfg):
		return outcome{successMet: true}
	}
	return outcome{condition: batchv1.JobSuccessCriteriaMet, reason: batchv1.JobReasonSuccessPolicy, message: successpolicy.Message(rule), successMet: true}
}
