package cases

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var tracking = []suite.Case{
	{Name: "pods-have-the-finalizer", Title: "Each pod is created with the tracking finalizer and the labels of its Job",
		Source: "KEP-2307, Design Details", Requirements: []string{"TRK-01"}, Run: podsHaveTheFinalizer},
	{Name: "finalizers-are-removed", Title: "A pod loses the finalizer when its end is recorded, and no pod is left uncounted",
		Source: "KEP-2307, Algorithm", Requirements: []string{"TRK-02", "TRK-28"}, Run: finalizersAreRemoved},
	{Name: "failures-are-recorded-first", Title: "A failed pod is in uncountedTerminatedPods before it counts",
		Source: "API: JobStatus.uncountedTerminatedPods", Requirements: []string{"TRK-02"}, Run: failuresAreRecordedFirst},
	{Name: "deleted-finished-pods-count", Title: "Deleting a finished pod changes no count",
		Source: "KEP-2307, Goals", Requirements: []string{"TRK-13", "TRK-27"}, Run: deletedFinishedPodsCount},
	{Name: "many-pods-count-once", Title: "Each of many pods that end at once counts once",
		Source: "KEP-2307, Goals", Requirements: []string{"TRK-02", "TRK-31"}, Run: manyPodsCountOnce},
	{Name: "failed-job-releases-its-pods", Title: "When a Job fails, its other pods are deleted and lose the finalizer",
		Source: "KEP-2307, Algorithm", Requirements: []string{"TRK-15", "TRK-31"}, Run: failedJobReleasesItsPods},
	{Name: "one-of-ten-fails", Title: "One failure beside nine successes fails a Job with backoffLimit 0, and all ten count",
		Source: "API: JobSpec.backoffLimit", Requirements: []string{"TRK-32"}, Run: oneOfTenFails},
}

func podsHaveTheFinalizer(t *suite.T) {
	j := t.Create(all(2))
	for _, pod := range j.UntilRunning(2) {
		suite.Equal(t, "the pod has the tracking finalizer", true, history.IsTracked(pod))
		suite.Equal(t, "label "+batchv1.JobNameLabel, j.Name(), pod.Labels[batchv1.JobNameLabel])
		suite.Equal(t, "label "+batchv1.ControllerUidLabel, string(j.UID()), pod.Labels[batchv1.ControllerUidLabel])
		suite.Equal(t, "the owner blocks the deletion of the Job", true, *pod.OwnerReferences[0].BlockOwnerDeletion)
	}
	j.Play(succeed)
	j.UntilComplete()
}

func finalizersAreRemoved(t *suite.T) {
	j := t.Create(completions(3), parallelism(2))
	t.End(0, j.UntilRunning(2)...)
	j.Play(succeed)
	job := j.UntilComplete()
	suite.Equal(t, "uncountedTerminatedPods has pods at the end", false, hasUncounted(job))
	wantReleased(t, j)
}

func failuresAreRecordedFirst(t *suite.T) {
	j := t.Create(backoffLimit(0))
	pod := j.UntilRunning(1)[0]
	t.End(1, pod)
	wantCounts(t, j.UntilFailed(batchv1.JobReasonBackoffLimitExceeded), 0, 1)
	recorded := slices.ContainsFunc(j.Versions(), func(job *batchv1.Job) bool {
		return job.Status.Failed == 0 && slices.Contains(history.UncountedFailed(&job.Status), pod.UID)
	})
	suite.Equal(t, "uncountedTerminatedPods.failed had the pod before failed was 1", true, recorded)
}

func deletedFinishedPodsCount(t *suite.T) {
	j := t.Create(completions(3), parallelism(1))
	t.End(0, j.UntilRunning(1)...)
	j.Until(counts(1, 1, 0))
	first := j.Pods()[0]
	t.UntilPodReleased(first)
	t.DeletePods(first)
	t.UntilPodGone(first)
	j.Play(succeed)
	wantCounts(t, j.UntilComplete(), 3, 0)
	wantPods(t, j, 3)
}

func manyPodsCountOnce(t *suite.T) {
	const n = 30
	j := t.Create(all(n))
	j.UntilRunning(n)
	j.Play(succeed)
	wantCounts(t, j.UntilComplete(), n, 0)
	wantPods(t, j, n)
	wantReleased(t, j)
	recorded := map[types.UID]bool{}
	for _, job := range j.Versions() {
		for _, uid := range history.UncountedSucceeded(&job.Status) {
			recorded[uid] = true
		}
	}
	suite.Equal(t, "the number of pods that were ever in uncountedTerminatedPods.succeeded", n, len(recorded))
}

func failedJobReleasesItsPods(t *suite.T) {
	j := t.Create(all(3), backoffLimit(0))
	t.End(1, j.UntilRunning(3)[0])
	job := j.UntilFailed(batchv1.JobReasonBackoffLimitExceeded)
	wantCounts(t, job, 0, 3)
	suite.Equal(t, "uncountedTerminatedPods has pods at the end", false, hasUncounted(job))
	wantReleased(t, j)
	suite.Equal(t, "the number of pods that run", 0, len(j.Running()))
}

func oneOfTenFails(t *suite.T) {
	j := t.Create(all(10), backoffLimit(0))
	running := j.UntilRunning(10)
	t.End(0, running[:9]...)
	j.UntilNow(counts(1, 9, 0))
	t.End(1, running[9])
	wantCounts(t, j.UntilFailed(batchv1.JobReasonBackoffLimitExceeded), 9, 1)
	wantPods(t, j, 10)
	wantReleased(t, j)
}
