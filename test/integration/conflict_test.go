package integration

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// A user edits the Job between the controller's read and its status write: the write is a
// conflict, the controller decides again, and nothing is lost.
func TestConflictIsDecidedAnew_STV_23_TRK_08(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit map[string]any
		// active pods are wanted after the edit.
		active int
	}{
		"label":       {map[string]any{"metadata": map[string]any{"labels": map[string]any{"edited": "yes"}}}, 1},
		"parallelism": {map[string]any{"spec": map[string]any{"parallelism": 3}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			f.create(newJob(completions(4), parallelism(1)))
			pod := f.untilActive(1)[0]
			f.kubelet.run(pod)
			f.untilCounts("a", counts{active: 1, ready: 1})

			status := p.wire.hold(statusPut)
			f.kubelet.succeed(pod)
			f.until("the success is about to be recorded", func() bool { return status.count() > 0 })
			f.patchJob("a", c.edit)
			status.lift()
			f.untilActive(c.active)
			f.kubelet.play(everySucceeds)
			job := f.untilComplete("a", 4, 0)
			f.wantPodsEver(4)
			if p.wire.answered(statusPut, 409) == 0 {
				t.Error("there was no conflict")
			}
			if name == "label" && job.Labels["edited"] != "yes" {
				t.Errorf("the labels are %v", job.Labels)
			}
		})
	}
}

// KEP-3715's argument: a Job that grows while its success is being written continues.
func TestJobThatGrowsWhileItCompletesGoesOn_STV_23_JOB_10(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(indexed(2)))
	pods := f.untilActive(2)
	end := p.wire.hold(statusPut.holding(string(batchv1.JobSuccessCriteriaMet)))
	f.kubelet.succeed(pods...)
	f.until("the success is about to be written", func() bool { return end.count() > 0 })
	f.edit("a", elastic(3))
	end.lift()
	pods = f.untilActive(1)
	if history.Is(f.history.job("a"), batchv1.JobSuccessCriteriaMet) {
		t.Error("the Job has succeeded with an index that has not")
	}
	f.kubelet.succeed(pods...)
	f.untilComplete("a", 3, 0)
	if p.wire.answered(statusPut, 409) == 0 {
		t.Error("there was no conflict")
	}
}

// As long as no status can be written, no finalizer goes (the judge holds S2).
func TestNoFinalizerGoesWithoutAStatus_TRK_08(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(2), parallelism(2)))
	pods := f.untilActive(2)
	f.untilCounts("a", counts{active: 2})
	conflicts := p.wire.reject(statusPut, 409)
	f.kubelet.succeed(pods...)
	f.until("ten writes have failed", func() bool { return conflicts.count() >= 10 })
	f.untilPods(2, "tracked", history.IsTracked)
	conflicts.lift()
	f.untilComplete("a", 2, 0)
}

// The garbage collector takes the owner off a pod, which conflicts with the
// removal of the finalizer: the pod, nobody's now, must not keep it.
func TestPodIsOrphanedWhileItIsReleased_TRK_20_TRK_23(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(1)))
	pod := f.untilActive(1)[0]
	f.kubelet.run(pod)
	f.untilCounts("a", counts{active: 1, ready: 1})
	removal := p.wire.hold(podPatch)
	f.deleteJob("a", metav1.DeletePropagationOrphan)
	f.until("the pod is about to lose its finalizer", func() bool { return removal.count() > 0 })
	f.patchPod(pod, map[string]any{"ownerReferences": nil})
	f.patchJob("a", map[string]any{"metadata": map[string]any{"finalizers": nil}})
	removal.lift()
	f.untilReleased()
}

// A pod that succeeds while it is taken away as one too many is counted.
func TestScaleDownRacesWithSuccess_TRK_36(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(2), parallelism(2)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})

	removal := p.wire.hold(podPatch)
	f.edit("a", map[string]any{"parallelism": 1})
	f.until("a pod is about to lose its finalizer", func() bool { return removal.count() > 0 })
	f.kubelet.succeed(pods...)
	removal.lift()
	f.untilComplete("a", 2, 0)
	f.wantPodsEver(2)
	if p.wire.answered(podPatch, 409) == 0 {
		t.Error("the finalizer was removed without regard to the success")
	}
}

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
