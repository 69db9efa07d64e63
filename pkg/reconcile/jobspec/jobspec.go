// Package jobspec reads fields of a JobSpec with the API server's defaults, and has its limits. Jobs from the API have these
// defaults already; manifests may not.
package jobspec

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// IsIndexed reports whether each pod of the Job has a completion index.
func IsIndexed(spec *batchv1.JobSpec) bool { return CompletionMode(spec) == batchv1.IndexedCompletion }

// CompletionMode returns spec.completionMode.
func CompletionMode(spec *batchv1.JobSpec) batchv1.CompletionMode {
	return ptr.Deref(spec.CompletionMode, batchv1.NonIndexedCompletion)
}

// Parallelism returns spec.parallelism.
func Parallelism(spec *batchv1.JobSpec) int32 { return ptr.Deref(spec.Parallelism, 1) }

// IsSuspended returns spec.suspend.
func IsSuspended(spec *batchv1.JobSpec) bool { return ptr.Deref(spec.Suspend, false) }

// HasManualSelector returns spec.manualSelector: the API server generates no selector for the Job.
func HasManualSelector(spec *batchv1.JobSpec) bool { return ptr.Deref(spec.ManualSelector, false) }

// BackoffLimit returns spec.backoffLimit, which has no limit by default if
// backoffLimitPerIndex is set.
func BackoffLimit(spec *batchv1.JobSpec) int32 {
	if spec.BackoffLimitPerIndex != nil {
		return ptr.Deref(spec.BackoffLimit, math.MaxInt32)
	}
	return ptr.Deref(spec.BackoffLimit, 6)
}

// PodReplacementPolicy returns the policy in force: with a podFailurePolicy it is always
// Failed (PRP-02).
func PodReplacementPolicy(spec *batchv1.JobSpec) batchv1.PodReplacementPolicy {
	if spec.PodFailurePolicy != nil {
		return batchv1.Failed
	}
	return ptr.Deref(spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
}
