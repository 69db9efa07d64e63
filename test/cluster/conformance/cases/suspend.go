package cases

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var suspend = []suite.Case{
	{Name: "created-suspended", Title: "A Job that is created suspended has no pods and no startTime until it is resumed",
		Source: "KEP-2232, Proposal", Requirements: []string{"JOB-25", "JOB-27"}, Run: createdSuspended},
	{Name: "suspend-deletes-pods", Title: "Suspending a Job deletes its pods, which do not count as failed",
		Source: "KEP-2232, Proposal", Requirements: []string{"JOB-26", "TRK-14"}, Run: suspendDeletesPods},
	{Name: "resume-resets-start-time", Title: "Resuming a Job sets Suspended to False, and startTime to that time",
		Source: "API: JobStatus.startTime", Requirements: []string{"JOB-27", "STV-15"}, Run: resumeResetsStartTime},
	{Name: "suspend-keeps-indexes", Title: "Completed indexes stay completed in a Job that is suspended and resumed",
		Source: "KEP-2232, Proposal", Requirements: []string{"JOB-27"}, Run: suspendKeepsIndexes},
	{Name: "suspended-template-changes", Title: "Pods that are created after a Job is resumed have the template that was changed before",
		Source: "KEP-2926, Proposal; KEP-5440", Requirements: []string{"JOB-30"}, Run: suspendedTemplateChanges},
	{Name: "suspended-has-no-deadline", Title: "activeDeadlineSeconds does not run in a suspended Job",
		Source: "API: JobSpec.activeDeadlineSeconds", Requirements: []string{"JOB-23"}, Run: suspendedHasNoDeadline},
	{Name: "resume-waits-for-pods", Title: "With podReplacementPolicy Failed, a resumed Job has no new pods while the old ones terminate",
		Source: "KEP-3939, Integration tests", Requirements: []string{"PRP-13"}, Run: resumeWaitsForPods},
	{Name: "suspended-work-queue", Title: "A Job without completions that has a success is Complete when it is suspended",
		Source: "API: JobSpec.completions, JobSpec.suspend", Requirements: []string{"JOB-65"}, Run: suspendedWorkQueue},
	{Name: "suspended-too-late", Title: "Suspending a Job has no effect once its end is decided",
		Source: "KEP-2232, Proposal", Requirements: []string{"JOB-29"}, Run: suspendedTooLate},
}

func suspendedIs(status corev1.ConditionStatus) (what string, reached func(*batchv1.Job) bool) {
	return "the condition Suspended is " + string(status), func(job *batchv1.Job) bool {
		c := anyCondition(job, batchv1.JobSuspended)
		return c != nil && c.Status == status
	}
}

// anyCondition returns the condition of a type, whatever its status.
func anyCondition(job *batchv1.Job, t batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if job.Status.Conditions[i].Type == t {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

const (
	suspendPatch = `{"spec":{"suspend":true}}`
	resumePatch  = `{"spec":{"suspend":false}}`
)

func createdSuspended(t *suite.T) {
	j := t.Create(suspended, all(2))
	job := j.Until(suspendedIs(corev1.ConditionTrue))
	suite.Equal(t, "the Job has a startTime", false, job.Status.StartTime != nil)
	wantPods(t, j, 0)
	j.Patch(resumePatch)
	t.End(0, j.UntilRunning(2)...)
	job = j.UntilComplete()
	wantCounts(t, job, 2, 0)
	suite.Equal(t, "the Job has a startTime", true, job.Status.StartTime != nil)
}

func suspendDeletesPods(t *suite.T) {
	j := t.Create(all(2), backoffLimit(0))
	j.UntilRunning(2)
	j.Patch(suspendPatch)
	j.UntilNow(suspendedIs(corev1.ConditionTrue))
	j.UntilNow(counts(0, 0, 0))
	j.UntilRunning(0)
	j.Patch(resumePatch)
	t.End(0, j.UntilRunning(2)...)
	wantCounts(t, j.UntilComplete(), 2, 0)
	wantPods(t, j, 4)
}

func resumeResetsStartTime(t *suite.T) {
	j := t.Create()
	j.UntilRunning(1)
	j.Until("the Job has a startTime", func(job *batchv1.Job) bool { return job.Status.StartTime != nil })
	j.Patch(suspendPatch)
	j.UntilNow(suspendedIs(corev1.ConditionTrue))
	j.UntilRunning(0)
	j.Patch(resumePatch)
	job := j.UntilNow(suspendedIs(corev1.ConditionFalse))
	t.End(0, j.UntilRunning(1)...)
	j.UntilComplete()
	resumed := anyCondition(job, batchv1.JobSuspended).LastTransitionTime
	switch start := job.Status.StartTime; {
	case start == nil:
		t.Errorf("a resumed Job has a startTime", "it has none")
	case start.Sub(resumed.Time).Abs() > time.Second:
		t.Errorf("startTime is when the Job was resumed", "it was resumed at %v, and startTime is %v", resumed, start)
	}
}

func suspendKeepsIndexes(t *suite.T) {
	j := t.Create(indexedMode, all(3))
	t.End(0, j.UntilRunning(3)[1])
	j.Until(counts(2, 1, 0))
	j.Patch(suspendPatch)
	j.UntilNow(suspendedIs(corev1.ConditionTrue))
	j.UntilRunning(0)
	suite.Equal(t, "completedIndexes while suspended", "1", j.Now().Status.CompletedIndexes)
	j.Patch(resumePatch)
	running := j.UntilRunning(2)
	suite.Equal(t, "the first index that runs again", 0, history.IndexOf(running[0]))
	suite.Equal(t, "the second index that runs again", 2, history.IndexOf(running[1]))
	t.End(0, running...)
	wantCounts(t, j.UntilComplete(), 3, 0)
	wantPods(t, j, 5)
}

func suspendedTemplateChanges(t *suite.T) {
	j := t.Create(suspended)
	j.Until(suspendedIs(corev1.ConditionTrue))
	j.Patch(`{"spec":{"template":{"metadata":{"annotations":{"conformance.batchjob.dev/changed":"yes"}}}}}`)
	j.Patch(resumePatch)
	pod := j.UntilRunning(1)[0]
	suite.Equal(t, "the annotation of the pod", "yes", pod.Annotations["conformance.batchjob.dev/changed"])
	t.End(0, pod)
	wantCounts(t, j.UntilComplete(), 1, 0)
}

func suspendedHasNoDeadline(t *suite.T) {
	j := t.Create(suspended, deadline(2))
	j.Until(suspendedIs(corev1.ConditionTrue))
	other := t.CreateNamed("-running", deadline(2))
	other.UntilFailed(batchv1.JobReasonDeadlineExceeded)
	t.Fence()
	suite.Equal(t, "the suspended Job has FailureTarget", false, history.Is(j.Now(), batchv1.JobFailureTarget))
}

func resumeWaitsForPods(t *suite.T) {
	j := t.Create(replaces(batchv1.Failed))
	old := j.UntilRunning(1)[0]
	j.Hold()
	j.Patch(suspendPatch)
	j.UntilNow(suspendedIs(corev1.ConditionTrue))
	j.Patch(resumePatch)
	j.UntilNow(suspendedIs(corev1.ConditionFalse))
	t.Fence()
	wantPods(t, j, 1)
	j.Release()
	t.UntilPodGone(old)
	t.End(0, j.UntilRunning(1)...)
	wantCounts(t, j.UntilComplete(), 1, 0)
	wantPods(t, j, 2)
}

func suspendedWorkQueue(t *suite.T) {
	j := t.Create(parallelism(3))
	t.End(0, j.UntilRunning(3)[0])
	j.Until(counts(2, 1, 0))
	j.Patch(suspendPatch)
	job := j.UntilComplete()
	wantCounts(t, job, 1, 0)
	suite.Equal(t, "the Job is suspended", false, history.Is(job, batchv1.JobSuspended))
	wantPods(t, j, 3)
}

func suspendedTooLate(t *suite.T) {
	j := t.Create(all(2), backoffLimit(0))
	running := j.UntilRunning(2)
	j.Hold()
	t.End(1, running[0])
	j.Until(condition(batchv1.JobFailureTarget))
	j.Patch(suspendPatch)
	t.Fence()
	j.Release()
	job := j.UntilFailed(batchv1.JobReasonBackoffLimitExceeded)
	suite.Equal(t, "the Job is suspended", false, history.Is(job, batchv1.JobSuspended))
	suite.Equal(t, "the Job has a startTime", true, job.Status.StartTime != nil)
	wantCounts(t, job, 0, 2)
}
