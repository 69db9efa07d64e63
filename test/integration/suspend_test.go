package integration

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

func suspend(on bool) map[string]any { return map[string]any{"suspend": on} }

func TestResumedJobGoesOnWhereItWas_JOB_25_to_27_JOB_30_TRK_14_PRP_09(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(3), parallelism(2), backoffLimit(0), onNode, suspended))

	job := f.untilIs("a", batchv1.JobSuspended)
	if c := history.Condition(job, batchv1.JobSuspended); c.Reason != "JobSuspended" || c.Message != "Job suspended" {
		t.Errorf("the condition is %v", c)
	}
	if job.Status.StartTime != nil || job.Status.Ready == nil || job.Status.Terminating == nil {
		t.Errorf("the status is %+v", job.Status)
	}
	f.wantPodsEver(0)

	f.edit("a", suspend(false))
	pods := f.untilActive(2)
	job = f.untilJob("a", "is started", func(job *batchv1.Job) bool { return job.Status.StartTime != nil })
	if history.Is(job, batchv1.JobSuspended) {
		t.Error("a Job that runs is Suspended")
	}
	f.kubelet.run(pods...)
	f.kubelet.succeed(pods[0])
	pods = f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2, succeeded: 1})

	f.edit("a", suspend(true))
	job = f.untilIs("a", batchv1.JobSuspended)
	if got, want := countsOf(job), (counts{terminating: 2, succeeded: 1}); got != want {
		t.Errorf("the suspended Job counts %+v, want %+v", got, want)
	}
	if job.Status.StartTime != nil {
		t.Error("startTime is not cleared")
	}
	// With active 0 published, the template may be changed.
	f.edit("a", map[string]any{"template": map[string]any{"spec": map[string]any{"nodeSelector": map[string]any{"disk": "fast"}}}})
	f.kubelet.terminate(f.untilPods(2, "terminating", history.IsTerminating)...)
	f.untilCounts("a", counts{succeeded: 1})

	f.edit("a", suspend(false))
	for _, pod := range f.untilActive(2) {
		if pod.Spec.NodeSelector["disk"] != "fast" {
			t.Errorf("pod %s is of the old template", pod.Name)
		}
	}
	f.kubelet.play(everySucceeds)
	job = f.untilComplete("a", 3, 0)
	if job.Status.StartTime == nil || job.Status.CompletedIndexes != "0-2" {
		t.Errorf("the status is %+v", job.Status)
	}
	f.wantPodsEver(5)
}

// A pod that succeeds while it is taken away is counted (TRK-36).
func TestSuspendRacesWithSuccess_TRK_36(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(2), parallelism(2)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})

	removal := p.wire.hold(podPatch)
	f.edit("a", suspend(true))
	f.until("both pods are about to lose their finalizer", func() bool { return removal.count() == 2 })
	f.kubelet.succeed(pods[0])
	removal.lift()
	f.untilIs("a", batchv1.JobSuspended)
	f.untilCounts("a", counts{succeeded: 1})
	f.edit("a", suspend(false))
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 0)
	f.wantPodsEver(3)
}

// A work queue that has had a success completes when it is suspended.
func TestSuspendedWorkQueueCompletes_JOB_65(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(parallelism(3)))
	pods := f.untilActive(3)
	f.kubelet.run(pods...)
	f.kubelet.succeed(pods[0])
	f.untilCounts("a", counts{active: 2, ready: 2, succeeded: 1})
	f.edit("a", suspend(true))
	job := f.untilComplete("a", 1, 0)
	if history.Is(job, batchv1.JobSuspended) {
		t.Error("the Job is Suspended too")
	}
	f.wantPodsEver(3)
}

// No pod is created while those of the time before the suspension still end.
func TestResumeWaitsForTerminatingPods_PRP_13(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(completions(1), onNode, replacedWhen(batchv1.Failed)))
	old := f.untilActive(1)[0]
	f.kubelet.run(old)
	f.untilCounts("a", counts{active: 1, ready: 1})
	f.edit("a", suspend(true))
	f.untilIs("a", batchv1.JobSuspended)
	f.edit("a", suspend(false))
	job := f.untilJob("a", "is resumed", func(job *batchv1.Job) bool { return !history.Is(job, batchv1.JobSuspended) })
	if got, want := countsOf(job), (counts{terminating: 1}); got != want {
		t.Errorf("the resumed Job counts %+v, want %+v", got, want)
	}
	f.wantPodsEver(1)
	f.kubelet.terminate(old)
	f.untilActive(1)
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 1, 0)
}

// JOB-30: while a Job is suspended and has no active pods, resources and labels of its template
// may change, since Kubernetes 1.37 also those labels that the API server added and that name
// the Job. New pods follow the new template, and still belong to the Job.
func TestResumedJobHasTheNewTemplate_JOB_30(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(completions(2), parallelism(2), onNode, suspended))
	f.untilIs("a", batchv1.JobSuspended)
	f.edit("a", map[string]any{"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{
		batchv1.JobNameLabel: "other", "job-name": nil, "controller-uid": nil, "team": "ml",
	}}}})
	f.edit("a", suspend(false))
	for _, pod := range f.untilActive(2) {
		if _, legacy := pod.Labels["controller-uid"]; pod.Labels[batchv1.JobNameLabel] != "other" || pod.Labels["team"] != "ml" || legacy {
			t.Errorf("pod %s has the labels %v", pod.Name, pod.Labels)
		}
	}
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 0)
	f.untilReleased()
}
