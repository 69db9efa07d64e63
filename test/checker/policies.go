package checker

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/rules"
)

// replacesFailedOnly reports whether a pod that is being deleted keeps its place until it
// has ended (PRP-02, PRP-18).
func (c *Checker) replacesFailedOnly(spec *batchv1.JobSpec) bool {
	return rules.ReplacesFailedOnly(spec, c.features().PodReplacementPolicy)
}

// perIndex reports whether failures count for each index (BLI-01, BLI-34).
func (c *Checker) perIndex(spec *batchv1.JobSpec) bool {
	return rules.PerIndex(spec, c.features().BackoffLimitPerIndex)
}

// ruling returns the action of the first rule of the podFailurePolicy that matches a failed
// pod, or "", and its index.
func (c *Checker) ruling(job *batchv1.Job, pod *corev1.Pod) (action batchv1.PodFailurePolicyAction, rule int) {
	return rules.MatchedRule(job.Spec.PodFailurePolicy, pod, c.perIndex(&job.Spec))
}

// ignored reports whether a failure of this pod does not count (PFP-05).
func (c *Checker) ignored(job *batchv1.Job, pod *corev1.Pod) bool {
	action, _ := c.ruling(job, pod)
	return action == batchv1.PodFailurePolicyActionIgnore
}

// failsJob reports whether a failure of this pod fails the Job (PFP-07).
func (c *Checker) failsJob(job *batchv1.Job, pod *corev1.Pod) bool {
	action, _ := c.ruling(job, pod)
	return action == batchv1.PodFailurePolicyActionFailJob
}
