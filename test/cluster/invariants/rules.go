package invariants

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

// isWritten reports whether a controller has written the status. If so, it shows which features that controller has: a
// disabled feature leaves its field out (PRP-18, BLI-34).
func isWritten(job *batchv1.Job) bool { return job.Status.UncountedTerminatedPods != nil }

// replacesFailedOnly reports whether a pod that is being deleted keeps its place until it has ended.
func replacesFailedOnly(job *batchv1.Job) bool {
	return rules.ReplacesFailedOnly(&job.Spec, !isWritten(job) || job.Status.Terminating != nil)
}

// failsPerIndex reports whether failures count for each index.
func failsPerIndex(job *batchv1.Job) bool {
	return rules.PerIndex(&job.Spec, !isWritten(job) || job.Status.FailedIndexes != nil)
}

// matchedRule returns the action and the index of the rule that matches a failed pod, or "" and -1.
func matchedRule(job *batchv1.Job, pod *corev1.Pod) (action batchv1.PodFailurePolicyAction, rule int) {
	return rules.MatchedRule(job.Spec.PodFailurePolicy, pod, failsPerIndex(job))
}

// isIgnored reports whether a rule ignores the pod's failure (PFP-05).
func isIgnored(job *batchv1.Job, pod *corev1.Pod) bool {
	action, _ := matchedRule(job, pod)
	return action == batchv1.PodFailurePolicyActionIgnore
}

// isIgnoredWithJob reports whether the pod, which has not ended, does not count when its Job fails (PRP-16).
func isIgnoredWithJob(job *batchv1.Job, pod *corev1.Pod) bool {
	action, _ := rules.FirstMatch(job.Spec.PodFailurePolicy, pod, failsPerIndex(job))
	return action == batchv1.PodFailurePolicyActionIgnore && !history.HasEnded(pod) && history.Is(job, batchv1.JobFailureTarget)
}

// failure reports whether the pod is a failure of the Job: it failed and no rule ignores the failure, or it is being
// deleted and the Job does not wait for its end (PRP-05, PRP-06).
func (l *podHistory) failure(job *batchv1.Job) bool {
	counts := func(failure *corev1.Pod) bool { return !isIgnored(job, failure) }
	return slices.ContainsFunc(l.failures, counts) || l.terminating && !replacesFailedOnly(job)
}
