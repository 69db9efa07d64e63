package integration

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// KEP-3715's argument: a Job that grows while its success is being written continues.
// Requirements: STV-23, JOB-10
func TestJobThatGrowsWhileItCompletesGoesOn(t *testing.T) {
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

// The garbage collector removes a pod's owner, which conflicts with the removal of the finalizer: the pod, which has no
// owner now, must not keep the finalizer.
// Requirements: TRK-20, TRK-23
func TestPodIsOrphanedWhileItIsReleased(t *testing.T) {
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
