package rules

import (
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// Recorded returns the UIDs in uncountedTerminatedPods.
func Recorded(s *batchv1.JobStatus) []types.UID {
	return slices.Concat(history.UncountedFailed(s), history.UncountedSucceeded(s))
}

// Added returns the UIDs of now that are not in before.
func Added(before, now []types.UID) []types.UID {
	return slices.DeleteFunc(slices.Clone(now), func(uid types.UID) bool { return slices.Contains(before, uid) })
}

// Settled returns the UIDs that left uncountedTerminatedPods, and are counted now.
func Settled(old, now *batchv1.JobStatus) []types.UID {
	return slices.Concat(Added(history.UncountedFailed(now), history.UncountedFailed(old)), Added(history.UncountedSucceeded(now), history.UncountedSucceeded(old)))
}

// CountProblems checks S1: the counters change by exactly the number of UIDs that leave uncounted. In an Indexed Job,
// succeeded is the number of completed indexes, but it must not decrease when completions and parallelism are no longer
// equal (STV-18): then the old number stays.
func CountProblems(old, job *batchv1.Job) (problems []string) {
	was, is := &old.Status, &job.Status
	if moved, left := int(is.Failed-was.Failed), len(Added(history.UncountedFailed(is), history.UncountedFailed(was))); moved != left {
		problems = append(problems, fmt.Sprintf("failed moved by %d, and %d UIDs left uncounted.failed", moved, left))
	}
	moved, left := int(is.Succeeded-was.Succeeded), len(Added(history.UncountedSucceeded(is), history.UncountedSucceeded(was)))
	switch {
	case history.IsIndexed(&job.Spec):
		n := int32(Completed(is).Len())
		kept := moved == 0 && n < is.Succeeded && !ptr.Equal(job.Spec.Completions, job.Spec.Parallelism)
		if n != is.Succeeded && !kept {
			problems = append(problems, fmt.Sprintf("succeeded is %d, and completedIndexes %q", is.Succeeded, is.CompletedIndexes))
		}
	case moved != left:
		problems = append(problems, fmt.Sprintf("succeeded moved by %d, and %d UIDs left uncounted.succeeded", moved, left))
	}
	return problems
}

// Completed returns the completed indexes of a status.
func Completed(s *batchv1.JobStatus) indexset.Set {
	set, _ := indexset.Parse(s.CompletedIndexes)
	return set
}

// Failed returns the failed indexes of a status.
func Failed(s *batchv1.JobStatus) indexset.Set {
	set, _ := indexset.Parse(ptr.Deref(s.FailedIndexes, ""))
	return set
}

// LostIndexes returns the indexes, within the Job's completions, that were completed and no longer are (S6).
func LostIndexes(old, job *batchv1.Job) indexset.Set {
	before, _ := indexset.ParseTolerant(old.Status.CompletedIndexes, ptr.Deref(job.Spec.Completions, 0))
	return before.Difference(Completed(&job.Status))
}

// The annotations of a retry: the indexes that it runs, and its completions at creation.
const (
	retryIndexes     = "batchjob.dev/retry-indexes"
	retryCompletions = "batchjob.dev/retry-completions"
)

// LeftOut returns the indexes below the original completions that a retry does not run. They count as completed.
func LeftOut(job *batchv1.Job) indexset.Set {
	text, isRetry := job.Annotations[retryIndexes]
	if !isRetry {
		return indexset.Set{}
	}
	made, err := strconv.ParseInt(job.Annotations[retryCompletions], 10, 32)
	if err != nil {
		made = int64(ptr.Deref(job.Spec.Completions, 0))
	}
	retried, _ := indexset.ParseTolerant(text, ptr.Deref(job.Spec.Completions, 0))
	return indexset.Below(int32(made)).Difference(retried)
}

// EndsWithSuccess reports whether a pod was deleted because its Job succeeded: the pod is neither a failure nor a
// success (SUC-14).
func EndsWithSuccess(job *batchv1.Job, pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded && history.Is(job, batchv1.JobSuccessCriteriaMet)
}

// IsStoredByIndex reports whether a pod's success is in completedIndexes, or comes too late because its index has failed
// (BLI-12).
func IsStoredByIndex(job *batchv1.Job, pod *corev1.Pod) bool {
	return history.IsIndexed(&job.Spec) && pod.Status.Phase == corev1.PodSucceeded &&
		Completed(&job.Status).Union(Failed(&job.Status)).Contains(history.IndexOf(pod))
}
