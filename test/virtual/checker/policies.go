package checker

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

// features holds the feature gates of the process whose writes are checked.
type features struct{ reconcile.Features }

// features returns the features of the writing process. Its write may arrive late, after the process is gone.
func (c *Checker) features() features {
	if by := c.writer(); by.Exists() {
		return features{by.Features()}
	}
	return features{c.world.Controller.Limits.Features}
}

// replacesFailedOnly reports whether a pod that is being deleted keeps its place until it
// has ended (PRP-02, PRP-18).
func (f features) replacesFailedOnly(spec *batchv1.JobSpec) bool {
	return rules.ReplacesFailedOnly(spec, f.PodReplacementPolicy)
}

// perIndex reports whether failures count for each index (BLI-01, BLI-34).
func (f features) perIndex(spec *batchv1.JobSpec) bool {
	return rules.PerIndex(spec, f.BackoffLimitPerIndex)
}

// ruling returns the action and the index of the first podFailurePolicy rule that matches a failed pod, or "" and -1.
func (f features) ruling(job *batchv1.Job, pod *corev1.Pod) (action batchv1.PodFailurePolicyAction, rule int) {
	return rules.MatchedRule(job.Spec.PodFailurePolicy, pod, f.perIndex(&job.Spec))
}

// ignored reports whether a rule ignores the pod's failure (PFP-05).
func (f features) ignored(job *batchv1.Job, pod *corev1.Pod) bool {
	action, _ := f.ruling(job, pod)
	return action == batchv1.PodFailurePolicyActionIgnore
}

// failsJob reports whether a rule fails the Job because of the pod's failure (PFP-07).
func (f features) failsJob(job *batchv1.Job, pod *corev1.Pod) bool {
	action, _ := f.ruling(job, pod)
	return action == batchv1.PodFailurePolicyActionFailJob
}
