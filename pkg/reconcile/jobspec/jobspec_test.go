package jobspec

import (
	"math"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The API server sets the same values in a Job that leaves the fields out.
func TestDefaults(t *testing.T) {
	empty, set := &batchv1.JobSpec{}, &batchv1.JobSpec{
		CompletionMode: ptr.To(batchv1.IndexedCompletion), Parallelism: ptr.To[int32](3), Suspend: ptr.To(true),
		BackoffLimit: ptr.To[int32](2), BackoffLimitPerIndex: ptr.To[int32](1), PodReplacementPolicy: ptr.To(batchv1.Failed),
	}
	assert.Equal(t, CompletionMode(empty), batchv1.NonIndexedCompletion, "completionMode")
	assert.Equal(t, CompletionMode(set), batchv1.IndexedCompletion, "completionMode")
	assert.Equal(t, IsIndexed(empty), false, "indexed")
	assert.Equal(t, IsIndexed(set), true, "indexed")
	assert.Equal(t, Parallelism(empty), 1, "parallelism")
	assert.Equal(t, Parallelism(set), 3, "parallelism")
	assert.Equal(t, IsSuspended(empty), false, "suspend")
	assert.Equal(t, IsSuspended(set), true, "suspend")
	assert.Equal(t, BackoffLimit(empty), 6, "backoffLimit")
	assert.Equal(t, BackoffLimit(set), 2, "backoffLimit")
	assert.Equal(t, BackoffLimit(&batchv1.JobSpec{BackoffLimitPerIndex: ptr.To[int32](1)}), math.MaxInt32, "backoffLimit")
	assert.Equal(t, PodReplacementPolicy(empty), batchv1.TerminatingOrFailed, "podReplacementPolicy")
	assert.Equal(t, PodReplacementPolicy(set), batchv1.Failed, "podReplacementPolicy")
	assert.Equal(t, PodReplacementPolicy(&batchv1.JobSpec{PodFailurePolicy: &batchv1.PodFailurePolicy{}}), batchv1.Failed, "podReplacementPolicy")
}
