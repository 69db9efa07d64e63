package cases

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
)

var deletion = []suite.Case{
	{Name: "deleted-in-background", Title: "The pods of a Job that is deleted in the background lose the finalizer, and go away",
		Source: "KEP-2307, Deleted Jobs", Requirements: []string{"TRK-20", "JOB-58"}, Run: deletedWith(metav1.DeletePropagationBackground)},
	{Name: "deleted-in-foreground", Title: "The pods of a Job that is deleted in the foreground lose the finalizer, and go away",
		Source: "KEP-2307, Deleted Jobs", Requirements: []string{"TRK-20", "JOB-58"}, Run: deletedWith(metav1.DeletePropagationForeground)},
	{Name: "deleted-as-orphan", Title: "The pods of a Job that is deleted as an orphan stay, without the finalizer",
		Source: "KEP-2307, Deleted Jobs", Requirements: []string{"TRK-20"}, Run: deletedAsOrphan},
	{Name: "finished-job-deleted", Title: "The pods of a finished Job go away with it",
		Source: "KEP-2307, Deleted Jobs", Requirements: []string{"TRK-20", "JOB-58"}, Run: finishedJobDeleted},
	{Name: "deleted-job-creates-no-pods", Title: "A Job that is being deleted creates no pods",
		Source: "KEP-2307, Deleted Jobs", Requirements: []string{"TRK-24"}, Run: deletedJobCreatesNoPods},
}

// midway returns a Job with one ended pod and two running pods.
func midway(t *suite.T) *suite.Job {
	j := t.Create(completions(5), parallelism(2))
	t.End(0, j.UntilRunning(2)[0])
	j.Until(counts(2, 1, 0))
	j.UntilRunning(2)
	return j
}

func deletedWith(policy metav1.DeletionPropagation) func(*suite.T) {
	return func(t *suite.T) {
		j := midway(t)
		j.Delete(policy)
		j.UntilGone()
		for _, pod := range j.AllPods() {
			t.UntilPodGone(pod)
		}
		wantPods(t, j, 3)
	}
}

func deletedAsOrphan(t *suite.T) {
	j := midway(t)
	before := j.AllPods()
	j.Delete(metav1.DeletePropagationOrphan)
	j.UntilGone()
	for _, pod := range before {
		t.UntilPodReleased(pod)
		t.UntilPod(pod, "has no controller", func(pod *corev1.Pod) bool { return metav1.GetControllerOf(pod) == nil })
	}
	suite.Equal(t, "the number of pods", 3, len(before))
}

func finishedJobDeleted(t *suite.T) {
	j := t.Create(all(2))
	t.End(0, j.UntilRunning(2)...)
	j.UntilComplete()
	j.Delete(metav1.DeletePropagationBackground)
	j.UntilGone()
	for _, pod := range j.AllPods() {
		t.UntilPodGone(pod)
	}
}

func deletedJobCreatesNoPods(t *suite.T) {
	j := t.Create(completions(5), parallelism(2))
	running := j.UntilRunning(2)
	j.Hold()
	j.Delete(metav1.DeletePropagationForeground)
	t.UntilPod(running[0], "is being deleted", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	t.Fence()
	wantPods(t, j, 2)
	j.Release()
	j.UntilGone()
	wantPods(t, j, 2)
}
