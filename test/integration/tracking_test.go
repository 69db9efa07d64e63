package integration

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// Only our finalizer goes; the pod is counted though another one holds it, and
// an edit of the pod at that moment is no conflict.
func TestForeignFinalizerSurvives_TRK_11(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(1), withFinalizer(foreignFinalizer)))
	pod := f.untilActive(1)[0]
	removal := p.wire.hold(podPatch)
	f.kubelet.succeed(pod)
	f.until("the pod is about to lose our finalizer", func() bool { return removal.count() > 0 })
	f.labelPod(pod, "edited", "yes")
	removal.lift()

	f.untilComplete("a", 1, 0)
	pod = f.history.pod(pod.UID)
	if want := []string{foreignFinalizer}; !slices.Equal(pod.Finalizers, want) {
		t.Errorf("the finalizers are %v, want %v", pod.Finalizers, want)
	}
	if pod.Labels["edited"] != "yes" {
		t.Errorf("the labels are %v", pod.Labels)
	}
	if n := p.wire.answered(podPatch, 409); n > 0 {
		t.Errorf("%d conflicts", n)
	}
}

// An unscheduled pod that a user deletes is there only as long as our finalizer
// is: it is counted first.
func TestPodIsDeleted_TRK_13(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(completions(2), parallelism(2)))
	pods := f.untilActive(2)
	f.kubelet.succeed(pods[1])
	f.deletePods(pods...)
	f.untilCounts("a", counts{active: 1, succeeded: 1, failed: 1})
	f.untilPods(1, "there", anyPod)
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 1)
}

// Counted pods may go at any time.
func TestFinishedPodsAreDeleted_TRK_27(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(completions(4), parallelism(2)))
	pods := f.untilActive(2)
	f.kubelet.fail(pods[0])
	f.kubelet.succeed(pods[1])
	f.untilJob("a", "has counted both", func(job *batchv1.Job) bool { return job.Status.Succeeded == 1 && job.Status.Failed == 1 })
	f.deletePods(pods...)
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 4, 1)
	f.wantPodsEver(5)
}

// A pod that is recorded as failed stays failed, even if its phase changes later.
func TestRecordedFailureStays_TRK_16(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(1)))
	pod := f.untilActive(1)[0]
	removal := p.wire.hold(podPatch)
	f.kubelet.fail(pod)
	f.until("the failed pod is about to lose its finalizer", func() bool { return removal.count() > 0 })
	f.kubelet.succeed(pod)
	removal.lift()
	f.untilCounts("a", counts{active: 1, failed: 1})
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 1, 1)
	f.wantPodsEver(2)
}

// A running pod without the finalizer would end uncounted: it is replaced.
func TestFinalizerIsStripped_TRK_37(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(2), backoffLimit(0), onNode))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})

	f.setFinalizers(pods[0])
	f.untilPods(1, "terminating", history.IsTerminating)
	f.kubelet.terminate(pods[0])
	f.untilActive(2)
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 0)
	f.wantPodsEver(3)
}

// The finalizer removals that fail do not hold up the others.
func TestFailedRemovalHoldsUpNoOther_TRK_08_TRK_09(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(3), parallelism(3)))
	pods := f.untilActive(3)
	failing := p.wire.reject(podPatch.holding(string(pods[1].UID)), 500)
	f.kubelet.succeed(pods...)
	f.untilJob("a", "has counted two", func(job *batchv1.Job) bool { return job.Status.Succeeded == 2 })
	if job := f.history.job("a"); history.IsFinished(job) {
		t.Error("the Job is finished, and a pod is not counted")
	}
	failing.lift()
	f.untilComplete("a", 3, 0)
}
