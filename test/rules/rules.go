package rules

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// IsIndexed reports whether the pods of a Job have completion indexes.
func IsIndexed(spec *batchv1.JobSpec) bool {
	return ptr.Deref(spec.CompletionMode, "") == batchv1.IndexedCompletion
}

// InRange reports whether a pod with an index can count for a Job.
func InRange(spec *batchv1.JobSpec, index int32) bool {
	return !IsIndexed(spec) || index >= 0 && index < ptr.Deref(spec.Completions, 0)
}

// FailedUIDs are the pods that a status records as failed, and does not count yet.
func FailedUIDs(s *batchv1.JobStatus) []types.UID {
	if s.UncountedTerminatedPods == nil {
		return nil
	}
	return s.UncountedTerminatedPods.Failed
}

// SucceededUIDs are the pods that a status records as succeeded, and does not count yet.
func SucceededUIDs(s *batchv1.JobStatus) []types.UID {
	if s.UncountedTerminatedPods == nil {
		return nil
	}
	return s.UncountedTerminatedPods.Succeeded
}

// Added returns the UIDs of a list that were not in it before.
func Added(before, now []types.UID) []types.UID {
	return slices.DeleteFunc(slices.Clone(now), func(uid types.UID) bool { return slices.Contains(before, uid) })
}

// When returns the problem if there is one, or "".
func When(broken bool, problem string) string {
	if broken {
		return problem
	}
	return ""
}

// MetRule returns the first rule of a successPolicy that the completed indexes meet, or -1
// (KEP-3998).
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

// FirstMatch returns the action of the first rule of a podFailurePolicy that matches a pod, and its index; "" and -1 if
// none does (KEP-3329). Rules that fail an index apply only if failures count for each index.
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

// MatchedRule is FirstMatch for a pod that has failed; no rule matches another one.
func MatchedRule(policy *batchv1.PodFailurePolicy, pod *corev1.Pod, perIndex bool) (action batchv1.PodFailurePolicyAction, rule int) {
	if pod.Status.Phase != corev1.PodFailed {
		return "", -1
	}
	return FirstMatch(policy, pod, perIndex)
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
