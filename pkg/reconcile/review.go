package reconcile

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Review is Compute with more Findings, for explanations: the verdict of the podFailurePolicy
// on every failed pod, counted or not, and the progress of the successPolicy, also of finished
// Jobs. Its plan has the same operations.
func Review(o Observation, c Config) Plan {
	s := newState(o, c)
	if !o.PodsUnknown {
		s.decide()
	}
	f := &s.plan.Findings
	if s.job.Spec.PodFailurePolicy != nil {
		f.Verdicts = s.verdicts(o.Pods)
	}
	if f.SuccessRules == nil && s.hasSuccessPolicy() {
		_, f.SuccessRules = s.evaluateSuccess(f.CompletedIndexes, f.FailedIndexes)
	}
	return s.plan
}

// verdicts returns those on the pods in phase Failed, the only ones that the
// podFailurePolicy applies to (PFP-01).
func (s *state) verdicts(pods []*Pod) (verdicts []FailedPod) {
	for _, p := range pods {
		if p.Phase != corev1.PodFailed {
			continue
		}
		m := s.matches[p.UID]
		if m == nil {
			m = ptr.To(s.evaluate(p))
		}
		verdicts = append(verdicts, FailedPod{p, m})
	}
	return verdicts
}
