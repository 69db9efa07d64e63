package lint

import batchv1 "k8s.io/api/batch/v1"

func checkPodReplacementPolicy(r *review) {
	policy, path := r.spec.PodReplacementPolicy, r.specPath("podReplacementPolicy")
	if policy == nil {
		return
	}
	if r.spec.PodFailurePolicy != nil && *policy == batchv1.TerminatingOrFailed {
		r.reject("replacement-with-failure-policy", path, "use Failed, or remove the field", "with podFailurePolicy, a pod is replaced only when it has failed")
		return
	}
	r.oneOf("replacement-unknown", path, string(*policy), string(batchv1.Failed), string(batchv1.TerminatingOrFailed))
}
