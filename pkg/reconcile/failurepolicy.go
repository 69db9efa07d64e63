package reconcile

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// applyFailurePolicy evaluates spec.podFailurePolicy on each failed pod that is not
// recorded yet. With a policy, these are in phase Failed, and never merely terminate (PFP-01,
// replaceFailedOnly). Failures that a rule ignores move to s.ignored.
func (s *state) applyFailurePolicy() {
	if s.job.Spec.PodFailurePolicy == nil {
		return
	}
	s.matches = make(map[types.UID]*failurepolicy.Match, len(s.failed))
	s.plan.Findings.Verdicts = make([]FailedPod, 0, len(s.failed))
	counted := make([]*Pod, 0, len(s.failed))
	for _, p := range s.failed {
		m := s.evaluate(p)
		s.matches[p.UID] = &m
		s.plan.Findings.Verdicts = append(s.plan.Findings.Verdicts, FailedPod{p, &m})
		if m.Action == batchv1.PodFailurePolicyActionIgnore {
			s.ignored = append(s.ignored, p)
		} else {
			counted = append(counted, p)
		}
	}
	s.failed = counted
}

// evaluate evaluates the podFailurePolicy on a pod.
func (s *state) evaluate(p *Pod) failurepolicy.Match {
	return failurepolicy.Evaluate(s.job.Spec.PodFailurePolicy, failurepolicy.Pod{Containers: p.Terminated, Conditions: p.Conditions}, s.perIndex)
}

// ignoresRemaining reports whether a rule ignores a pod that would count as failed because
// the Job fails while it runs (PRP-16).
func (s *state) ignoresRemaining(p *Pod) bool {
	if s.job.Spec.PodFailurePolicy == nil {
		return false
	}
	m := s.evaluate(p)
	if m.Action != batchv1.PodFailurePolicyActionIgnore {
		return false // No other action applies to a pod that has not failed (PFP-01).
	}
	s.matches[p.UID] = &m
	return true
}

// ignoreRemaining releases such a pod once it is being deleted for a stored reason: it must
// not keep running without the finalizer.
func (s *state) ignoreRemaining(p *Pod) {
	s.notCounted(p, IgnoredByRule)
	if s.outcome.stored && p.Deleting {
		s.release(p, ifUnchanged) // It may yet succeed.
	}
}

// action is the action of the podFailurePolicy for a failed pod, or "".
func (s *state) action(p *Pod) batchv1.PodFailurePolicyAction {
	if m := s.matches[p.UID]; m != nil {
		return m.Action
	}
	return ""
}

// failJob looks for a failure that a rule with action FailJob matches. The earliest one
// decides, so that the reason does not depend on the order of the cache (PFN-05).
func (s *state) failJob() bool {
	var first *Pod
	for _, p := range s.failed {
		if s.action(p) == batchv1.PodFailurePolicyActionFailJob && (first == nil || compareFailures(p, first) < 0) {
			first = p
		}
	}
	if first == nil {
		return false
	}
	m := s.matches[first.UID]
	s.setOutcome(outcome{condition: batchv1.JobFailureTarget, reason: s.ruleReason(m.Rule), message: m.Message(s.job.Namespace, first.Name)})
	return true
}

func compareFailures(a, b *Pod) int {
	return cmp.Or(a.FinishedAt.Compare(b.FinishedAt), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}

// ruleReason is the condition reason after a rule has failed the Job (KEP-4443).
func (s *state) ruleReason(rule int32) string {
	if !s.cfg.Features.RuleNames {
		return batchv1.JobReasonPodFailurePolicy
	}
	return rulename.Reason(s.plan.Findings.RuleNames.Name(rule), rule)
}

// RuleNames returns the names of the rules of the podFailurePolicy, and what is wrong with the
// annotation (KEP-4443). native is Observation.RuleNames.
func RuleNames(job *batchv1.Job, native []string) (rulename.Names, []rulename.Violation) {
	if job.Spec.PodFailurePolicy == nil {
		return nil, nil
	}
	return rulename.Resolve(native, job.Annotations[rulename.Annotation], len(job.Spec.PodFailurePolicy.Rules))
}

// releaseIgnored releases pods whose failure does not count. They are not recorded
// (PFP-05), but kept while the next pod of their index needs their count (BLI-04).
func (s *state) releaseIgnored() {
	for _, p := range s.ignored {
		if s.isDelayed(p) || s.perIndex && s.outcome.decided() && !s.outcome.stored {
			// The pod is the only trace of the failure; if the interim condition cannot be
			// stored, its index may continue.
			continue
		}
		s.notCounted(p, IgnoredByRule)
		r := ref(p, unconditional)
		r.Ignored = true
		if p.FinishedAt.After(s.history.LastSuccess) {
			r.IgnoredFailure = p.FinishedAt
		}
		s.releaseRef(r)
	}
}
