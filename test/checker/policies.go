package sim

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// replacesFailedOnly reports whether a pod that is being deleted keeps its place until it
// has ended (PRP-02, PRP-18).
func (c *Checker) replacesFailedOnly(spec *batchv1.JobSpec) bool {
	return spec.PodFailurePolicy != nil ||
		c.features().PodReplacementPolicy && ptr.Deref(spec.PodReplacementPolicy, "") == batchv1.Failed
}

// perIndex reports whether failures count for each index (BLI-01, BLI-34).
func (c *Checker) perIndex(spec *batchv1.JobSpec) bool {
	return isIndexed(spec) && spec.BackoffLimitPerIndex != nil && c.features().BackoffLimitPerIndex
}

// ruling returns the action of the first rule of the podFailurePolicy that matches a failed
// pod, or "", and its index (KEP-3329). It reads rules in the plainest way, so that a mistake
// in the controller's reading shows.
func (c *Checker) ruling(job *batchv1.Job, pod *corev1.Pod) (action batchv1.PodFailurePolicyAction, rule int) {
	if job.Spec.PodFailurePolicy == nil || pod.Status.Phase != corev1.PodFailed {
		return "", -1
	}
	for i, r := range job.Spec.PodFailurePolicy.Rules {
		switch r.Action {
		case batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailJob:
		case batchv1.PodFailurePolicyActionFailIndex:
			if !c.perIndex(&job.Spec) {
				continue
			}
		default:
			continue
		}
		if matchesExitCode(r.OnExitCodes, pod) || matchesCondition(r.OnPodConditions, pod) {
			return r.Action, i
		}
	}
	return "", -1
}

func matchesExitCode(r *batchv1.PodFailurePolicyOnExitCodesRequirement, pod *corev1.Pod) bool {
	if r == nil {
		return false
	}
	for _, s := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		t := s.State.Terminated
		if t == nil || t.ExitCode == 0 || r.ContainerName != nil && *r.ContainerName != s.Name {
			continue
		}
		listed := slices.Contains(r.Values, t.ExitCode)
		if r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && listed || r.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn && !listed {
			return true
		}
	}
	return false
}

func matchesCondition(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, pod *corev1.Pod) bool {
	for _, p := range patterns {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == p.Type && condition.Status == p.Status {
				return true
			}
		}
	}
	return false
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
