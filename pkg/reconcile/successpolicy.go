package reconcile

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/successpolicy"
)

// meetsSuccessPolicy ends the Job by spec.successPolicy (KEP-3998). Only successes that
// this plan's status records count, so that the condition and its evidence are stored
// together (SUC-08).
func (s *state) meetsSuccessPolicy() bool {
	if !s.hasSuccessPolicy() {
		return false
	}
	rule, progress := s.evaluateSuccess(s.completedIndexes.Union(indexesOf(s.recordable())), s.allFailedIndexes())
	s.plan.Findings.SuccessRules = progress
	s.successMet = rule != successpolicy.NoRule
	if !s.successMet || !s.canRecordFailed() {
		return false
	}
	s.failed, s.unreported = slices.Concat(s.failed, s.unreported), nil
	s.setOutcome(outcome{condition: batchv1.JobSuccessCriteriaMet, reason: batchv1.JobReasonSuccessPolicy, message: successpolicy.Message(rule)})
	return true
}

// hasSuccessPolicy reports whether the Job has a successPolicy that applies.
func (s *state) hasSuccessPolicy() bool {
	return s.cfg.Features.SuccessPolicy && s.job.Spec.SuccessPolicy != nil && s.indexed
}

func (s *state) evaluateSuccess(succeeded, failed indexset.Set) (rule int, progress []successpolicy.Progress) {
	return successpolicy.Evaluate(s.job.Spec.SuccessPolicy, succeeded, failed, s.completions)
}

// canRecordFailed reports whether this status has room for all failed pods, reported or not. After
// SuccessCriteriaMet, one that a user deletes would look like the pods that are deleted because
// of it.
func (s *state) canRecordFailed() bool {
	return len(s.failed)+len(s.unreported) <= s.room()
}

// recordable returns the succeeded pods that fit into one status along with every failure.
func (s *state) recordable() []*Pod {
	room := max(0, s.room()-len(s.failed)-len(s.unreported))
	if len(s.succeeded) <= room {
		return s.succeeded
	}
	slices.SortFunc(s.succeeded, compareForRecord)
	return s.succeeded[:room]
}
