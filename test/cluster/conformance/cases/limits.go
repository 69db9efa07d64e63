package cases

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var limits = []suite.Case{
	{Name: "backoff-limit", Title: "A Job fails when it has more failures than backoffLimit",
		Source: "API: JobSpec.backoffLimit", Requirements: []string{"JOB-15"}, Run: backoffLimitExceeded},
	{Name: "backoff-delay", Title: "The next pod comes 10 s after a failure at the earliest", Slow: true,
		Source: "API: JobSpec.backoffLimit; KEP-3329", Requirements: []string{"JOB-18", "JOB-60"}, Run: backoffDelay},
	{Name: "backoff-limit-changes", Title: "A backoffLimit that is lowered applies at once",
		Source: "API: JobSpec.backoffLimit", Requirements: []string{"JOB-17"}, Run: backoffLimitChanges},
	{Name: "deadline", Title: "A Job that runs longer than activeDeadlineSeconds fails, and its pods are deleted",
		Source: "API: JobSpec.activeDeadlineSeconds", Requirements: []string{"JOB-23", "JOB-61"}, Run: deadlineExceeded},
	{Name: "deadline-changes", Title: "activeDeadlineSeconds that is set later applies at once",
		Source: "API: JobSpec.activeDeadlineSeconds", Requirements: []string{"JOB-24"}, Run: deadlineChanges},
}

func backoffLimitExceeded(t *suite.T) {
	j := t.Create(all(4), backoffLimit(2))
	running := j.UntilRunning(4)
	t.End(1, running[0], running[1])
	job := j.Until(failures(2))
	suite.Equal(t, "the Job has FailureTarget after 2 failures", false, history.Is(job, batchv1.JobFailureTarget))
	t.End(1, running[2])
	job = j.UntilFailed(batchv1.JobReasonBackoffLimitExceeded)
	wantAllFailed(t, j, job, 4, running[0])
}

// backoff is the minimum back-off, with tolerance for timestamps in whole seconds.
const backoff = 9 * time.Second

func backoffDelay(t *suite.T) {
	j := t.Create(backoffLimit(1))
	first := j.UntilRunning(1)[0]
	t.End(1, first)
	second := j.UntilRunning(1)[0]
	ended := finishedAt(t, first)
	if delay := second.CreationTimestamp.Sub(ended); delay < backoff {
		t.Errorf("the second pod comes 10 s after the first has failed", "it came after %v", delay)
	} else {
		t.Observe("the second pod came %v after the first had failed", delay)
	}
	t.End(1, second)
	wantCounts(t, j.UntilFailed(batchv1.JobReasonBackoffLimitExceeded), 0, 2)
	wantPods(t, j, 2)
}

// finishedAt returns the time at which the pod's container ended.
func finishedAt(t *suite.T, pod *corev1.Pod) time.Time {
	now, _ := t.Pod(pod)
	for _, c := range now.Status.ContainerStatuses {
		if c.State.Terminated != nil {
			return c.State.Terminated.FinishedAt.Time
		}
	}
	t.Fatalf("the status of the pod has the end of its container", "%v", now.Status.ContainerStatuses)
	return time.Time{}
}

// wantAllFailed checks that all pods of a Job count as failed: its first n pods, and the replacements of pods that failed a
// back-off earlier. Slow nodes report failures so late that there are such replacements. earliest is the pod that failed
// first.
func wantAllFailed(t *suite.T, j *suite.Job, job *batchv1.Job, n int, earliest *corev1.Pod) {
	suite.Equal(t, "succeeded", 0, job.Status.Succeeded)
	j.UntilNow("failed is the number of pods ever created", func(job *batchv1.Job) bool {
		return int(job.Status.Failed) == len(j.AllPods())
	})
	failed := finishedAt(t, earliest)
	for i, pod := range j.AllPods() {
		if delay := pod.CreationTimestamp.Sub(failed); i >= n && delay < backoff {
			t.Errorf(fmt.Sprintf("no more than %d pods are created within 10 s after the first failure", n), "pod %s came after %v", pod.Name, delay)
		}
	}
}

func backoffLimitChanges(t *suite.T) {
	j := t.Create(all(2), backoffLimit(3))
	first := j.UntilRunning(2)[0]
	t.End(1, first)
	j.Until(failures(1))
	j.Patch(`{"spec":{"backoffLimit":0}}`)
	wantAllFailed(t, j, j.UntilFailed(batchv1.JobReasonBackoffLimitExceeded), 2, first)
}

func deadlineExceeded(t *suite.T) {
	j := t.Create(all(2), deadline(2))
	// Real pods need not run before the deadline.
	j.Until("active is 2", func(job *batchv1.Job) bool { return job.Status.Active == 2 })
	target := j.Until(condition(batchv1.JobFailureTarget))
	ran := anyCondition(target, batchv1.JobFailureTarget).LastTransitionTime.Sub(target.Status.StartTime.Time)
	t.Observe("FailureTarget came after %v", ran)
	if ran < 2*time.Second {
		t.Errorf("FailureTarget does not come before 2 s", "it came after %v", ran)
	}
	wantCounts(t, j.UntilFailed(batchv1.JobReasonDeadlineExceeded), 0, 2)
	wantReleased(t, j)
}

func deadlineChanges(t *suite.T) {
	j := t.Create()
	j.UntilRunning(1)
	j.Patch(`{"spec":{"activeDeadlineSeconds":1}}`)
	wantCounts(t, j.UntilFailed(batchv1.JobReasonDeadlineExceeded), 0, 1)
}
