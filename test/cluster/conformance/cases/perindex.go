package cases

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var perIndex = []suite.Case{
	{Name: "per-index-limit", Title: "An index fails when it has more failures than backoffLimitPerIndex; the others run on", Slow: true,
		Source: "KEP-3850, Tracking", Requirements: []string{"BLI-02", "BLI-17", "BLI-38"}, Run: perIndexLimit},
	{Name: "per-index-limit-zero", Title: "With backoffLimitPerIndex 0, the first failure of an index is its last",
		Source: "API: JobSpec.backoffLimitPerIndex", Requirements: []string{"BLI-02", "BLI-10", "BLI-17"}, Run: perIndexLimitZero},
	{Name: "per-index-failure-count", Title: "Pods have the number of failures of their index as an annotation", Slow: true,
		Source: "KEP-3850, Tracking", Requirements: []string{"BLI-03", "BLI-04"}, Run: perIndexFailureCount},
	{Name: "per-index-success-after-failure", Title: "A Job whose indexes all succeed in the end is Complete", Slow: true,
		Source: "KEP-3850, Job completion", Requirements: []string{"BLI-17"}, Run: perIndexSuccessAfterFailure},
	{Name: "max-failed-indexes", Title: "More failed indexes than maxFailedIndexes fail the Job at once",
		Source: "API: JobSpec.maxFailedIndexes", Requirements: []string{"BLI-18", "BLI-19", "BLI-38"}, Run: maxFailedIndexesExceeded},
	{Name: "fail-index", Title: "The action FailIndex fails an index although it has retries left",
		Source: "KEP-3850, FailIndex", Requirements: []string{"BLI-14", "BLI-38"}, Run: failIndex},
	{Name: "per-index-and-global-limit", Title: "backoffLimit applies as well",
		Source: "API: JobSpec.backoffLimit", Requirements: []string{"BLI-21"}, Run: perIndexAndGlobalLimit},
	{Name: "failed-indexes-format", Title: "failedIndexes lists intervals as completedIndexes does",
		Source: "API: JobStatus.failedIndexes", Requirements: []string{"BLI-10"}, Run: failedIndexesFormat},
	{Name: "max-failed-indexes-changes", Title: "maxFailedIndexes that is lowered applies at once",
		Source: "API: JobSpec.maxFailedIndexes", Requirements: []string{"BLI-20"}, Run: maxFailedIndexesChanges},
	{Name: "per-index-deleted-pod", Title: "A pod that is being deleted is a failure of its index",
		Source: "KEP-3850, Tracking; API: JobSpec.podReplacementPolicy", Requirements: []string{"BLI-29", "PRP-05"}, Run: perIndexDeletedPod},
	{Name: "per-index-terminating-pod", Title: "With podReplacementPolicy Failed, it is a failure of its index only after it has ended",
		Source: "KEP-3850, Tracking; KEP-3939, Proposal", Requirements: []string{"BLI-29", "PRP-06"}, Run: perIndexTerminatingPod},
	{Name: "per-index-failed-pod-deleted", Title: "A failed pod that is deleted before its index runs again still counts for the index", Slow: true,
		Source: "KEP-3850, Tracking", Requirements: []string{"BLI-07"}, Run: perIndexFailedPodDeleted},
}

func perIndexLimit(t *suite.T) {
	j := t.Create(all(2), limitPerIndex(1))
	running := j.UntilRunning(2)
	t.End(1, running[0])
	again := untilNext(t, j, running[0])
	t.End(1, again)
	j.UntilNow(hasFailedIndexes("0"))
	suite.Equal(t, "the Job is finished while an index runs", false, history.IsFinished(j.Now()))
	t.End(0, running[1])
	job := j.UntilFailed(batchv1.JobReasonFailedIndexes)
	wantIndexes(t, job, "1", "0")
	wantCounts(t, job, 1, 2)
	wantPods(t, j, 3)
}

// untilNext waits for another pod of the index.
func untilNext(t *suite.T, j *suite.Job, before *corev1.Pod) *corev1.Pod {
	index := history.IndexOf(before)
	next := j.UntilIndex(index)
	if next.UID == before.UID {
		t.Fatalf("another pod runs", "pod %s still runs", next.Name)
	}
	t.Observe("index %d has another pod", index)
	return next
}

func perIndexLimitZero(t *suite.T) {
	j := t.Create(all(4), limitPerIndex(0))
	running := j.UntilRunning(4)
	j.Until(hasFailedIndexes(""))
	t.End(1, running[1], running[3])
	t.End(0, running[0], running[2])
	job := j.UntilFailed(batchv1.JobReasonFailedIndexes)
	wantIndexes(t, job, "0,2", "1,3")
	wantCounts(t, job, 2, 2)
	wantPods(t, j, 4)
}

func perIndexFailureCount(t *suite.T) {
	j := t.Create(all(2), limitPerIndex(3))
	running := j.UntilRunning(2)
	suite.Equal(t, "the failure count of the first pod", "0", running[0].Annotations[batchv1.JobIndexFailureCountAnnotation])
	t.End(1, running[0])
	again := untilNext(t, j, running[0])
	suite.Equal(t, "the failure count of the second pod", "1", again.Annotations[batchv1.JobIndexFailureCountAnnotation])
	t.End(0, again, running[1])
	wantCounts(t, j.UntilComplete(), 2, 1)
}

func perIndexSuccessAfterFailure(t *suite.T) {
	j := t.Create(all(2), limitPerIndex(2))
	running := j.UntilRunning(2)
	t.End(1, running...)
	t.End(0, untilNext(t, j, running[0]), untilNext(t, j, running[1]))
	job := j.UntilComplete()
	wantIndexes(t, job, "0,1", "")
	wantCounts(t, job, 2, 2)
}

func maxFailedIndexesExceeded(t *suite.T) {
	j := t.Create(all(4), limitPerIndex(0), maxFailedIndexes(1))
	running := j.UntilRunning(4)
	t.End(1, running[0])
	j.UntilNow(counts(3, 0, 1))
	suite.Equal(t, "the Job has FailureTarget", false, history.Is(j.Now(), batchv1.JobFailureTarget))
	t.End(1, running[2])
	job := j.UntilFailed(batchv1.JobReasonMaxFailedIndexesExceeded)
	wantIndexes(t, job, "", "0,2")
	wantCounts(t, job, 0, 4)
}

func failIndex(t *suite.T) {
	j := t.Create(all(2), limitPerIndex(5), failureRules(onCode(batchv1.PodFailurePolicyActionFailIndex, 42)))
	running := j.UntilRunning(2)
	t.End(42, running[1])
	j.UntilNow(hasFailedIndexes("1"))
	t.End(0, running[0])
	job := j.UntilFailed(batchv1.JobReasonFailedIndexes)
	wantIndexes(t, job, "0", "1")
	wantCounts(t, job, 1, 1)
	wantPods(t, j, 2)
}

func perIndexAndGlobalLimit(t *suite.T) {
	j := t.Create(all(4), limitPerIndex(1), backoffLimit(1))
	running := j.UntilRunning(4)
	t.End(1, running[:2]...)
	job := j.UntilFailed(batchv1.JobReasonBackoffLimitExceeded)
	wantIndexes(t, job, "", "")
	wantAllFailed(t, j, job, 4, running[0])
}

func failedIndexesFormat(t *suite.T) {
	j := t.Create(all(6), limitPerIndex(0))
	running := j.UntilRunning(6)
	t.End(1, running[1:4]...)
	t.End(1, running[5])
	t.End(0, running[0], running[4])
	wantIndexes(t, j.UntilFailed(batchv1.JobReasonFailedIndexes), "0,4", "1-3,5")
}

func maxFailedIndexesChanges(t *suite.T) {
	j := t.Create(all(4), limitPerIndex(0), maxFailedIndexes(3))
	t.End(1, j.UntilRunning(4)[1:3]...)
	j.UntilNow(counts(2, 0, 2))
	j.Patch(`{"spec":{"maxFailedIndexes":1}}`)
	job := j.UntilFailed(batchv1.JobReasonMaxFailedIndexesExceeded)
	wantIndexes(t, job, "", "1,2")
	wantCounts(t, job, 0, 4)
}

func perIndexDeletedPod(t *suite.T) {
	j := t.Create(all(2), limitPerIndex(0))
	running := j.UntilRunning(2)
	j.Hold()
	t.DeletePods(running[0])
	j.UntilNow(hasFailedIndexes("0"))
	t.UntilPod(running[0], "has not ended", func(pod *corev1.Pod) bool { return !history.HasEnded(pod) })
	j.Release()
	t.End(0, running[1])
	job := j.UntilFailed(batchv1.JobReasonFailedIndexes)
	wantIndexes(t, job, "1", "0")
	wantCounts(t, job, 1, 1)
}

func perIndexTerminatingPod(t *suite.T) {
	j := t.Create(all(2), limitPerIndex(0), replaces(batchv1.Failed))
	running := j.UntilRunning(2)
	j.Hold()
	t.DeletePods(running[0])
	j.UntilNow(terminating(1, 1))
	t.Fence()
	wantIndexes(t, j.Now(), "", "")
	j.Release()
	j.UntilNow(hasFailedIndexes("0"))
	t.End(0, running[1])
	wantCounts(t, j.UntilFailed(batchv1.JobReasonFailedIndexes), 1, 1)
	wantPods(t, j, 2)
}

func perIndexFailedPodDeleted(t *suite.T) {
	j := t.Create(all(1), limitPerIndex(1))
	first := j.UntilRunning(1)[0]
	t.End(1, first)
	// A slow node may report the failure after the end of its back-off.
	j.UntilNow("no pod is active, or the index runs again", func(job *batchv1.Job) bool {
		return job.Status.Active == 0 || len(j.AllPods()) > 1
	})
	t.DeletePods(first)
	again := untilNext(t, j, first)
	suite.Equal(t, "the failure count of the next pod", "1", again.Annotations[batchv1.JobIndexFailureCountAnnotation])
	t.End(0, again)
	wantCounts(t, j.UntilComplete(), 1, 1)
}
