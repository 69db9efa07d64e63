package rules

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// PerIndex reports whether failures count for each index (BLI-01, BLI-34). enabled is the feature JobBackoffLimitPerIndex.
func PerIndex(spec *batchv1.JobSpec, enabled bool) bool {
	return history.IsIndexed(spec) && spec.BackoffLimitPerIndex != nil && enabled
}

// ReplacesFailedOnly reports whether a pod that is being deleted keeps its place until it has ended (PRP-02, PRP-18). enabled is
// the feature JobPodReplacementPolicy.
func ReplacesFailedOnly(spec *batchv1.JobSpec, enabled bool) bool {
	return spec.PodFailurePolicy != nil || enabled && ptr.Deref(spec.PodReplacementPolicy, "") == batchv1.Failed
}

// MatchedRule returns the action of the first rule of a podFailurePolicy that matches a failed pod, and its index; "" and -1
// if none does, or the pod has not failed (KEP-3329). perIndex reports whether failures count for each index.
func MatchedRule(policy *batchv1.PodFailurePolicy, pod *corev1.Pod, perIndex bool) (action batchv1.PodFailurePolicyAction, rule int) {
	if pod.Status.Phase != corev1.PodFailed {
		return "", -1
	}
	return FirstMatch(policy, pod, perIndex)
}

// FirstMatch is MatchedRule for a pod in any phase: its conditions can match before it has ended.
func FirstMatch(policy *batchv1.PodFailurePolicy, pod *corev1.Pod, perIndex bool) (action batchv1.PodFailurePolicyAction, rule int) {
	if policy == nil {
		return "", -1
	}
	for i, r := range policy.Rules {
		switch r.Action {
		case batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailJob:
		case batchv1.PodFailurePolicyActionFailIndex:
			if !perIndex {
				continue
			}
		default: // Of a later version of the API.
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

func matchesCondition(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, pod *corev1.Pod) bool {
	return slices.ContainsFunc(patterns, func(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
		return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == p.Type && c.Status == p.Status })
	})
}

// IsLastFailure reports whether the failure of a pod is the last that its index may have (BLI-02, BLI-14).
func IsLastFailure(spec *batchv1.JobSpec, pod *corev1.Pod, perIndex bool) bool {
	switch action, _ := MatchedRule(spec.PodFailurePolicy, pod, perIndex); action {
	case batchv1.PodFailurePolicyActionFailIndex:
		return true
	case batchv1.PodFailurePolicyActionIgnore:
		return false
	}
	return perIndex && CountIn(pod, batchv1.JobIndexFailureCountAnnotation) >= *spec.BackoffLimitPerIndex
}

// CountIn returns the count in an annotation of a pod, or 0 if the annotation is missing or invalid (BLI-05).
func CountIn(pod *corev1.Pod, annotation string) int32 {
	n, err := strconv.ParseInt(pod.Annotations[annotation], 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// MetRule returns the first rule of a successPolicy that the completed indexes meet, or -1 (KEP-3998).
func MetRule(policy *batchv1.SuccessPolicy, completed indexset.Set) int {
	if policy == nil || completed.IsEmpty() {
		return -1
	}
	return slices.IndexFunc(policy.Rules, func(r batchv1.SuccessPolicyRule) bool {
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
