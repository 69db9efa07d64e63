package reconcile

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/successpolicy"
)

// meetsSuccessPolicy is the end by spec.successPolicy (KEP-3998). Only successes that
// the status written now records count, so that the condition and its evidence are
// stored together (SUC-08).
func (s *state) meetsSuccessPolicy() bool {
	if !s.asksForSuccess() {
		return false
	}
	rule, progress := s.evaluateSuccess(s.completed.Union(indexesOf(s.recordable())), s.lostNow())
	s.plan.Findings.SuccessRules = progress
	s.met = rule != successpolicy.NoRule
	if !s.met || !s.fitsFleeting() {
		return false
	}
	s.setFate(fate{condition: batchv1.JobSuccessCriteriaMet, reason: batchv1.JobReasonSuccessPolicy, message: successpolicy.Message(rule)})
	return true
}

// asksForSuccess reports whether the Job has a successPolicy that counts.
func (s *state) asksForSuccess() bool {
	return s.cfg.Features.SuccessPolicy && s.job.Spec.SuccessPolicy != nil && s.indexed
}

func (s *state) evaluateSuccess(succeeded, failed indexset.Set) (rule int, progress []successpolicy.Progress) {
	return successpolicy.Evaluate(s.job.Spec.SuccessPolicy, succeeded, failed, s.completions)
}

// fitsFleeting says that this status can record every failed pod that is being deleted.
// After SuccessCriteriaMet nobody could tell it from the pods that are deleted then.
func (s *state) fitsFleeting() bool {
	if slices.ContainsFunc(s.unreported, func(p *Pod) bool { return p.Deleting }) {
		return false // How it ended is waited for.
	}
	fleeting := 0
	for _, p := range s.failed {
		if p.Deleting {
			fleeting++
		}
	}
	return fleeting <= s.room()
}

// recordable are the succeeded pods that fit into one status beside every failure.
func (s *state) recordable() []*Pod {
	room := max(0, s.room()-len(s.failed))
	if len(s.succeeded) <= room {
		return s.succeeded
	}
	slices.SortFunc(s.succeeded, compareForRecord)
	return s.succeeded[:room]
}
