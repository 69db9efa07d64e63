package reconcile

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/successpolicy"
)

// Review is like Compute, with more Findings for explanations: the verdict of the podFailurePolicy on every failed pod,
// counted or not, and the progress of the successPolicy, also of finished Jobs. Its plan has the same operations.
func Review(o Observation, c Config) Plan {
	plan, job := decide(&o, c)
	f := &plan.Findings
	if job.spec.PodFailurePolicy != nil {
		// The podFailurePolicy applies to the pods in phase Failed only (PFP-01).
		f.Verdicts = nil
		for _, p := range o.Pods {
			if p.Phase == corev1.PodFailed {
				m := evaluate(job, p)
				f.Verdicts = append(f.Verdicts, FailedPod{p, &m})
			}
		}
	}
	if f.SuccessRules == nil && job.hasSuccessPolicy() {
		_, f.SuccessRules = successpolicy.Evaluate(job.spec.SuccessPolicy, f.CompletedIndexes, f.FailedIndexes, job.completions)
	}
	return plan
}
