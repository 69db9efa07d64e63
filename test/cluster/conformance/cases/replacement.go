package cases

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var replacement = []suite.Case{
	{Name: "replaces-terminating-pods", Title: "By default a pod that is being deleted counts as failed, and is replaced before it has ended", Slow: true,
		Source: "API: JobSpec.podReplacementPolicy", Requirements: []string{"PRP-05"}, Run: replacesTerminating},
	{Name: "replaces-failed-pods", Title: "With podReplacementPolicy Failed, a pod is replaced only after it has ended", Slow: true,
		Source: "KEP-3939, Proposal", Requirements: []string{"PRP-06", "PRP-08", "PRP-24", "PRP-21"}, Run: replacesFailed},
	{Name: "terminating-pod-succeeds", Title: "With podReplacementPolicy Failed, a pod that succeeds while it is being deleted counts as succeeded",
		Source: "API: JobSpec.podReplacementPolicy", Requirements: []string{"PRP-06"}, Run: terminatingSucceeds},
	{Name: "counts-terminating", Title: "terminating counts the pods that are being deleted",
		Source: "API: JobStatus.terminating", Requirements: []string{"PRP-03", "PRP-04"}, Run: countsTerminating},
	{Name: "failed-waits-for-pods", Title: "FailureTarget comes at once, Failed only when no pod is left that has not ended",
		Source: "KEP-3939, Tracking; KEP-4368, Terminating pods", Requirements: []string{"PRP-14", "MGB-08", "MGB-10"}, Run: failedWaits},
	{Name: "complete-waits-for-pods", Title: "SuccessCriteriaMet comes at once, Complete only when no pod is left that has not ended",
		Source: "KEP-3998, Evaluation; KEP-4368, Terminating pods", Requirements: []string{"PRP-14", "MGB-08", "MGB-10"}, Run: completeWaits},
	{Name: "every-end-waits-for-pods", Title: "However a Job ends, it is finished only when no pod is left that has not ended",
		Source: "KEP-4368, Terminating pods", Requirements: []string{"PRP-14", "MGB-08", "MGB-10", "JOB-11"}, Run: everyEndWaits},
	{Name: "deleted-pods-fail-later", Title: "When pods are deleted, and fail later, the policy decides when they count, in Indexed Jobs as in others", Slow: true,
		Source: "KEP-3939, Integration tests", Requirements: []string{"PRP-20"}, Run: deletedPodsFailLater},
	{Name: "replacement-policy-changes", Title: "podReplacementPolicy may change while a pod terminates, which is counted once", Slow: true,
		Source: "API: JobSpec.podReplacementPolicy", Requirements: []string{"PRP-22"}, Run: replacementPolicyChanges},
}

func replacesTerminating(t *suite.T) {
	j := t.Create()
	first := j.UntilRunning(1)[0]
	j.Hold()
	t.DeletePods(first)
	second := j.UntilRunning(1)[0]
	t.UntilPod(first, "has not ended", func(pod *corev1.Pod) bool { return !history.HasEnded(pod) })
	suite.Equal(t, "the pod that runs is another one", true, second.UID != first.UID)
	j.Until(terminating(1, 1))
	t.End(0, second)
	j.Release()
	wantCounts(t, j.UntilComplete(), 1, 1)
}

func replacesFailed(t *suite.T) {
	j := t.Create(replaces(batchv1.Failed))
	first := j.UntilRunning(1)[0]
	j.Hold()
	t.DeletePods(first)
	j.Until(terminating(0, 1))
	t.Fence()
	wantPods(t, j, 1)
	suite.Equal(t, "failed while the pod terminates", 0, j.Now().Status.Failed)
	j.Release()
	t.End(0, j.UntilRunning(1)...)
	wantCounts(t, j.UntilComplete(), 1, 1)
	wantPods(t, j, 2)
}

func terminatingSucceeds(t *suite.T) {
	j := t.Create(replaces(batchv1.Failed))
	pod := j.UntilRunning(1)[0]
	j.Hold()
	t.DeletePods(pod)
	j.Until(terminating(0, 1))
	t.End(0, pod)
	wantCounts(t, j.UntilComplete(), 1, 0)
	wantPods(t, j, 1)
}

func countsTerminating(t *suite.T) {
	j := t.Create(all(3), replaces(batchv1.Failed))
	running := j.UntilRunning(3)
	j.Until(terminating(3, 0))
	j.Hold()
	t.DeletePods(running[:2]...)
	j.UntilNow(terminating(1, 2))
	j.Release()
	j.UntilNow("terminating is 0, failed 2", func(job *batchv1.Job) bool {
		return job.Status.Terminating != nil && *job.Status.Terminating == 0 && job.Status.Failed == 2
	})
}

func failedWaits(t *suite.T) {
	j := t.Create(all(2), backoffLimit(0))
	waitsForPod(t, j, 1, batchv1.JobFailureTarget)
	wantCounts(t, j.UntilFailed(batchv1.JobReasonBackoffLimitExceeded), 0, 2)
}

func completeWaits(t *suite.T) {
	j := t.Create(all(2), successRules(ofCount(1)))
	waitsForPod(t, j, 0, batchv1.JobSuccessCriteriaMet)
	wantCounts(t, j.UntilComplete(), 1, 0)
}

// waitsForPod ends one of two pods with an exit code that decides the outcome; the Job must not finish while the other
// pod terminates.
func waitsForPod(t *suite.T, j *suite.Job, code int32, decided batchv1.JobConditionType) {
	running := j.UntilRunning(2)
	j.Hold()
	t.End(code, running[0])
	j.Until(condition(decided))
	j.Until(terminating(0, 1))
	t.Fence()
	suite.Equal(t, "the Job is finished while a pod terminates", false, history.IsFinished(j.Now()))
	j.Release()
}

// everyEndWaits runs Jobs with two pods, one of which is terminating when the outcome is decided.
func everyEndWaits(t *suite.T) {
	for _, way := range []struct {
		name    string
		changes []suite.Change
		decide  func(j *suite.Job, running []*corev1.Pod)
		decided batchv1.JobConditionType
	}{
		{"-deadline", nil, func(j *suite.Job, _ []*corev1.Pod) {
			j.Patch(`{"spec":{"activeDeadlineSeconds":1}}`)
		}, batchv1.JobFailureTarget},
		{"-rule", []suite.Change{failureRules(onCode(batchv1.PodFailurePolicyActionFailJob, 42))}, func(_ *suite.Job, running []*corev1.Pod) {
			t.End(42, running[0])
		}, batchv1.JobFailureTarget},
		{"-failed-index", []suite.Change{limitPerIndex(0), maxFailedIndexes(0)}, func(_ *suite.Job, running []*corev1.Pod) {
			t.End(1, running[0])
		}, batchv1.JobFailureTarget},
		{"-shrinks", []suite.Change{indexedMode}, func(j *suite.Job, running []*corev1.Pod) {
			t.End(0, running[0])
			j.Until(counts(1, 1, 0))
			j.Patch(`{"spec":{"completions":1,"parallelism":1}}`)
		}, batchv1.JobSuccessCriteriaMet},
	} {
		j := t.CreateNamed(way.name, append([]suite.Change{all(2)}, way.changes...)...)
		running := j.UntilRunning(2)
		j.Hold()
		way.decide(j, running)
		j.Until(condition(way.decided))
		t.Fence()
		suite.Equal(t, "the Job is finished while a pod terminates", false, history.IsFinished(j.Now()))
		j.Release()
		j.UntilNow("the Job is finished", history.IsFinished)
	}
}

func deletedPodsFailLater(t *suite.T) {
	var jobs []*suite.Job
	for suffix, change := range map[string]suite.Change{"": all(2), "-indexed": indexedMode} {
		for _, policy := range []batchv1.PodReplacementPolicy{batchv1.TerminatingOrFailed, batchv1.Failed} {
			j := t.CreateNamed("-"+strings.ToLower(string(policy))+suffix, all(2), change, replaces(policy))
			j.Hold()
			t.DeletePods(j.UntilRunning(2)...)
			if policy == batchv1.Failed {
				j.UntilNow(terminating(0, 2))
			}
			j.Until("failed is what the policy says", func(job *batchv1.Job) bool {
				return ptr.Deref(job.Status.Terminating, 0) == 2 && (job.Status.Failed == 2) == (policy == batchv1.TerminatingOrFailed)
			})
			jobs = append(jobs, j)
		}
	}
	// All of them wait for the same back-off.
	for _, j := range jobs {
		j.Release()
		j.Play(succeed)
	}
	for _, j := range jobs {
		wantCounts(t, j.UntilComplete(), 2, 2)
		wantPods(t, j, 4)
	}
}

func replacementPolicyChanges(t *suite.T) {
	j := t.Create(all(2), replaces(batchv1.Failed))
	running := j.UntilRunning(2)
	j.Hold()
	t.DeletePods(running[0])
	j.Until(terminating(1, 1))
	suite.Equal(t, "failed while the policy is Failed", 0, j.Now().Status.Failed)
	j.Patch(`{"spec":{"podReplacementPolicy":"TerminatingOrFailed"}}`)
	j.UntilNow("failed is 1", func(job *batchv1.Job) bool { return job.Status.Failed == 1 })
	j.Patch(`{"spec":{"podReplacementPolicy":"Failed"}}`)
	j.Release()
	t.UntilPodGone(running[0])
	t.End(0, j.UntilRunning(2)...)
	wantCounts(t, j.UntilComplete(), 2, 1)
	wantPods(t, j, 3)
}
