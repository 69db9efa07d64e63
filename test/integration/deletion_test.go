package integration

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// However a Job is deleted, its pods lose the tracking finalizer, those that run
// too, and nothing is counted as failed. The test plays the garbage collector.
func TestJobIsDeleted_JOB_58_TRK_20_TRK_24(t *testing.T) {
	t.Parallel()
	for _, policy := range []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.startController()
			f.create(newJob(completions(4), parallelism(3), onNode))
			pods := f.untilActive(3)
			f.kubelet.run(pods...)
			f.kubelet.succeed(pods[0])
			f.untilCounts("a", counts{active: 3, ready: 2, succeeded: 1})

			f.deleteJob("a", policy)
			f.untilReleased()
			if job := f.history.job("a"); job != nil && countsOf(job).failed > 0 {
				t.Errorf("the deleted Job counts %+v", countsOf(job))
			}
			existing := f.pods(anyPod)
			f.deletePods(existing...)
			f.kubelet.play(noneEnds)
			f.untilPods(0, "there", anyPod)
			f.wantPodsEver(4)
		})
	}
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
