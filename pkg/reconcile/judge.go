package reconcile

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// judgeFailures asks spec.podFailurePolicy about each pod that has failed and is not
// recorded: only in phase Failed, never while it merely terminates (PFP-01). Failures
// that a rule ignores leave s.failed.
func (s *state) judgeFailures() {
	if s.job.Spec.PodFailurePolicy == nil {
		return
	}
	s.matches = make(map[types.UID]*failurepolicy.Match, len(s.failed))
	s.plan.Findings.Verdicts = make([]FailedPod, 0, len(s.failed))
	counted := make([]*Pod, 0, len(s.failed))
	for _, p := range s.failed {
		if p.Phase != corev1.PodFailed {
			counted = append(counted, p)
			continue
		}
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

// evaluate asks the podFailurePolicy about a pod.
func (s *state) evaluate(p *Pod) failurepolicy.Match {
	return failurepolicy.Evaluate(s.job.Spec.PodFailurePolicy, failurepolicy.Pod{Containers: p.Terminated, Conditions: p.Conditions}, s.perIndex)
}

// ignoresRemaining reports whether a rule ignores the failure that a pod counts as which has
// not ended when the Job fails (PRP-16).
func (s *state) ignoresRemaining(p *Pod) bool {
	if s.job.Spec.PodFailurePolicy == nil {
		return false
	}
	m := s.evaluate(p)
	if m.Action != batchv1.PodFailurePolicyActionIgnore {
		return false // No other rule is asked about a pod that has not failed (PFP-01).
	}
	s.matches[p.UID] = &m
	return true
}

// ignoreRemaining lets go of such a pod once it is deleted for a stored reason: it may
// not run on without the finalizer.
func (s *state) ignoreRemaining(p *Pod) {
	s.notCounted(p, IgnoredByRule)
	if s.fate.stored && p.Deleting {
		s.release(p, ifUnchanged) // It may yet succeed.
	}
}

// action is what the podFailurePolicy asks for after the failure of a pod, or "".
func (s *state) action(p *Pod) batchv1.PodFailurePolicyAction {
	if m := s.matches[p.UID]; m != nil {
		return m.Action
	}
	return ""
}

// failJob looks for a failure that a rule with action FailJob matches. Of several the
// earliest decides, so that the reason does not depend on the order of the cache (PFN-05).
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
	s.setFate(fate{condition: batchv1.JobFailureTarget, reason: s.ruleReason(m.Rule), message: m.Message(s.job.Namespace, first.Name)})
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

// RuleNames are the names of the rules of the podFailurePolicy, and what is wrong with those of
// the annotation (KEP-4443). served are as in Observation.RuleNames.
func RuleNames(job *batchv1.Job, served []string) (rulename.Names, []rulename.Violation) {
	if job.Spec.PodFailurePolicy == nil {
		return nil, nil
	}
	return rulename.Resolve(served, job.Annotations[rulename.Annotation], len(job.Spec.PodFailurePolicy.Rules))
}

// releaseIgnored lets go of pods whose failure does not count: no record stands for
// them (PFP-05), unless the next pod of their index has to know of them (BLI-04).
func (s *state) releaseIgnored() {
	for _, p := range s.ignored {
		if s.isDelayed(p) || s.perIndex && s.fate.decided() && !s.fate.stored {
			// Nothing but the pod itself tells of the failure; if the interim condition
			// cannot be stored, its index may go on.
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
