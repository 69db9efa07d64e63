package integration

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// Pods that are too many go, the least advanced first, and are no failures.
func TestParallelismIsLowered_JOB_12_TRK_14(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(completions(5), parallelism(5), backoffLimit(0), onNode))
	pods := f.untilActive(5)
	f.kubelet.run(pods[1], pods[3])
	f.untilCounts("a", counts{active: 5, ready: 2})

	f.edit("a", map[string]any{"parallelism": 2})
	f.untilCounts("a", counts{active: 2, ready: 2, terminating: 3})
	removed := f.untilPods(3, "terminating", history.IsTerminating)
	for _, pod := range removed {
		if history.IsTracked(pod) {
			t.Errorf("pod %s is deleted with its finalizer on", pod.Name)
		}
	}
	f.kubelet.terminate(removed...)
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 5, 0)
	f.wantPodsEver(8)
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

func elastic(n int) map[string]any { return map[string]any{"completions": n, "parallelism": n} }

// Indexes leave and return: those that had succeeded run again.
func TestIndexesThatReturnRunAgain_JOB_10(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(4), backoffLimit(0), onNode))
	pods := f.untilActive(4)
	f.kubelet.run(pods...)
	for _, i := range []int32{1, 3} {
		f.kubelet.succeed(f.untilPods(1, "of the index", ofIndex(i))...)
	}
	f.untilCounts("a", counts{active: 2, ready: 2, succeeded: 2})

	f.edit("a", elastic(2))
	f.untilCounts("a", counts{active: 1, ready: 1, terminating: 1, succeeded: 1})
	f.kubelet.terminate(f.untilPods(1, "terminating", history.IsTerminating)...)
	f.untilCounts("a", counts{active: 1, ready: 1, succeeded: 1})

	f.edit("a", elastic(4))
	f.untilActive(3)
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 4, 0)
	f.wantPodsEver(6)
}

// The Job has succeeded at once, and is Complete when the removed pod has ended.
func TestScaleDownCompletesTheJob_JOB_11_MGB_10_PRP_14(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(2), onNode))
	f.kubelet.run(f.untilActive(2)...)
	f.kubelet.succeed(f.untilPods(1, "of index 0", ofIndex(0))...)
	f.untilCounts("a", counts{active: 1, ready: 1, succeeded: 1})

	f.edit("a", elastic(1))
	job := f.untilIs("a", batchv1.JobSuccessCriteriaMet)
	if got, want := countsOf(job), (counts{terminating: 1, succeeded: 1}); got != want || history.IsFinished(job) {
		t.Errorf("the Job counts %+v, want %+v", got, want)
	}
	f.kubelet.terminate(f.untilPods(1, "terminating", func(pod *corev1.Pod) bool { return history.IsTerminating(pod) && !history.IsTracked(pod) })...)
	f.untilComplete("a", 1, 0)
}
