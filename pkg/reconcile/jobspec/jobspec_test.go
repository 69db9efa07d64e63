package jobspec

import (
	"math"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// The API server sets the same values in a Job that leaves the fields out.
func TestDefaults(t *testing.T) {
	empty, set := &batchv1.JobSpec{}, &batchv1.JobSpec{
		CompletionMode: ptr.To(batchv1.IndexedCompletion), Parallelism: ptr.To[int32](3), Suspend: ptr.To(true),
		BackoffLimit: ptr.To[int32](2), BackoffLimitPerIndex: ptr.To[int32](1), PodReplacementPolicy: ptr.To(batchv1.Failed),
	}
	equal(t, "completionMode", CompletionMode(empty), batchv1.NonIndexedCompletion)
	equal(t, "completionMode", CompletionMode(set), batchv1.IndexedCompletion)
	equal(t, "indexed", IsIndexed(empty), false)
	equal(t, "indexed", IsIndexed(set), true)
	equal(t, "parallelism", Parallelism(empty), 1)
	equal(t, "parallelism", Parallelism(set), 3)
	equal(t, "suspend", IsSuspended(empty), false)
	equal(t, "suspend", IsSuspended(set), true)
	equal(t, "backoffLimit", BackoffLimit(empty), 6)
	equal(t, "backoffLimit", BackoffLimit(set), 2)
	equal(t, "backoffLimit", BackoffLimit(&batchv1.JobSpec{BackoffLimitPerIndex: ptr.To[int32](1)}), math.MaxInt32)
	equal(t, "podReplacementPolicy", PodReplacementPolicy(empty), batchv1.TerminatingOrFailed)
	equal(t, "podReplacementPolicy", PodReplacementPolicy(set), batchv1.Failed)
	equal(t, "podReplacementPolicy", PodReplacementPolicy(&batchv1.JobSpec{PodFailurePolicy: &batchv1.PodFailurePolicy{}}), batchv1.Failed)
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
