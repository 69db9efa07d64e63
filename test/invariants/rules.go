package invariants

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// isWritten reports whether a controller has written the status. If so, it shows which features
// that controller has: one that is off leaves its field out (PRP-18, BLI-34).
func isWritten(job *batchv1.Job) bool { return job.Status.UncountedTerminatedPods != nil }

// replacesFailedOnly reports whether a pod that is being deleted keeps its place until it has
// ended (PRP-02).
func replacesFailedOnly(job *batchv1.Job) bool {
	isOff := isWritten(job) && job.Status.Terminating == nil
	return job.Spec.PodFailurePolicy != nil || ptr.Deref(job.Spec.PodReplacementPolicy, "") == batchv1.Failed && !isOff
}

// failsPerIndex reports whether failures count for each index (BLI-01).
func failsPerIndex(job *batchv1.Job) bool {
	isOff := isWritten(job) && job.Status.FailedIndexes == nil
	return job.Spec.BackoffLimitPerIndex != nil && !isOff
}

// matchedRule returns the first rule of the Job's podFailurePolicy that matches a failed pod,
// its action and its index; "" and -1 if none does (KEP-3329).
func matchedRule(job *batchv1.Job, pod *corev1.Pod) (action batchv1.PodFailurePolicyAction, rule int) {
	if pod.Status.Phase != corev1.PodFailed {
		return "", -1
	}
	return firstMatch(job, pod)
}

// firstMatch is matchedRule for a pod in any phase: its conditions can match before it has ended.
func firstMatch(job *batchv1.Job, pod *corev1.Pod) (action batchv1.PodFailurePolicyAction, rule int) {
	if job.Spec.PodFailurePolicy == nil {
		return "", -1
	}
	for i, r := range job.Spec.PodFailurePolicy.Rules {
		if r.Action == batchv1.PodFailurePolicyActionFailIndex && !failsPerIndex(job) {
			continue
		}
		if r.OnExitCodes != nil && exitCodeMatches(r.OnExitCodes, pod) || conditionMatches(r.OnPodConditions, pod) {
			return r.Action, i
		}
	}
	return "", -1
}

func exitCodeMatches(r *batchv1.PodFailurePolicyOnExitCodesRequirement, pod *corev1.Pod) bool {
	for _, s := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		end := s.State.Terminated
		if end == nil || end.ExitCode == 0 || r.ContainerName != nil && *r.ContainerName != s.Name {
			continue
		}
		if slices.Contains(r.Values, end.ExitCode) == (r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
			return true
		}
	}
	return false
}

func conditionMatches(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, pod *corev1.Pod) bool {
	for _, p := range patterns {
		if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == p.Type && c.Status == p.Status }) {
			return true
		}
	}
	return false
}

// isIgnored reports whether the failure of the pod does not count (PFP-05).
func isIgnored(job *batchv1.Job, pod *corev1.Pod) bool {
	action, _ := matchedRule(job, pod)
	return action == batchv1.PodFailurePolicyActionIgnore
}

// isIgnoredWithJob reports whether the pod, which has not ended, does not count when its Job fails
// (PRP-16).
func isIgnoredWithJob(job *batchv1.Job, pod *corev1.Pod) bool {
	action, _ := firstMatch(job, pod)
	return action == batchv1.PodFailurePolicyActionIgnore && !history.HasEnded(pod) && history.Is(job, batchv1.JobFailureTarget)
}

// failsIndex reports whether the failure of the pod is the last that its index may have
// (BLI-02, BLI-14).
func failsIndex(job *batchv1.Job, pod *corev1.Pod) bool {
	switch action, _ := matchedRule(job, pod); action {
	case batchv1.PodFailurePolicyActionFailIndex:
		return true
	case batchv1.PodFailurePolicyActionIgnore:
		return false
	}
	before, _ := strconv.Atoi(pod.Annotations[batchv1.JobIndexFailureCountAnnotation]) // 0 if it is not a number (BLI-05).
	return failsPerIndex(job) && before >= int(*job.Spec.BackoffLimitPerIndex)
}

// metRule returns the first rule of the Job's successPolicy that its completed indexes
// meet, or -1 (KEP-3998).
func metRule(job *batchv1.Job) int {
	completed := completedIndexes(job)
	if job.Spec.SuccessPolicy == nil || completed.IsEmpty() {
		return -1
	}
	return slices.IndexFunc(job.Spec.SuccessPolicy.Rules, func(r batchv1.SuccessPolicyRule) bool {
		counting, need := completed, int32(0)
		if r.SucceededIndexes != nil {
			listed, err := indexset.Parse(*r.SucceededIndexes)
			if err != nil || listed.IsEmpty() {
				return false
			}
			counting, need = completed.Intersection(listed), int32(listed.Len())
		}
		if r.SucceededCount != nil {
			need = *r.SucceededCount
		}
		return counting.Len() >= int(need)
	})
}

// failure reports whether the pod is a failure of the Job: it has failed and no rule ignores
// that, or it is being deleted, and the Job does not wait for its end (PRP-05, PRP-06).
func (l *podHistory) failure(job *batchv1.Job) bool {
	counts := func(failure *corev1.Pod) bool { return !isIgnored(job, failure) }
	return slices.ContainsFunc(l.failures, counts) || l.terminating && !replacesFailedOnly(job)
}
