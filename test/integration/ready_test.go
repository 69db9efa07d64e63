package integration

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// status.ready is a number from the first status on, and counts the active pods that are
// ready: 2, 52, and 50 when two have failed and when two more are not ready any longer. Many
// pods that become ready one after the other are one write in a batch period.
func TestReadyPodsShareStatusWrites_JOB_32_REG_18(t *testing.T) {
	t.Parallel()
	const period = time.Second
	f := newFixture(t)
	p := f.startController(neverRetry, func(c *controller.Config) { c.BatchPeriod = period })
	writes := func() int { return len(p.wire.recorded(statusPut)) }
	f.create(newJob(completions(54), parallelism(52)))
	pods := f.untilActive(52)
	job := f.untilCounts("a", counts{active: 52})
	if job.Status.Ready == nil {
		t.Error("ready is nil")
	}
	f.kubelet.run(pods[:2]...)
	f.untilCounts("a", counts{active: 52, ready: 2})

	before, begun := writes(), time.Now()
	f.kubelet.run(pods[2:]...)
	f.untilCounts("a", counts{active: 52, ready: 52})
	if n, limit := writes()-before, int(time.Since(begun)/period)+2; n > limit {
		t.Errorf("%d status writes in %v for 50 pods that became ready", n, time.Since(begun))
	}
	f.kubelet.fail(pods[:2]...)
	f.untilCounts("a", counts{active: 50, ready: 50, failed: 2})
	for _, pod := range pods[2:4] {
		f.kubelet.write(pod, corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}})
	}
	f.untilCounts("a", counts{active: 50, ready: 48, failed: 2})
	for _, v := range f.history.sorted() {
		if v.job != nil && v.job.Status.StartTime != nil && v.job.Status.Ready == nil {
			t.Errorf("a status without ready: %+v", v.job.Status)
		}
	}
}

// Every pod that ends, one by one, asks for a sync, and so does every status: what is written
// is one status in a batch period all the same.
func TestSteadyFinishesShareStatusWrites_REG_18(t *testing.T) {
	t.Parallel()
	const period = time.Second
	f := newFixture(t)
	p := f.startController(func(c *controller.Config) { c.BatchPeriod = period })
	f.create(newJob(indexed(61), parallelism(61)))
	pods := f.untilActive(61)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 61, ready: 61})
	before, begun := len(p.wire.recorded(statusPut)), time.Now()
	for _, pod := range pods[:60] {
		f.kubelet.succeed(pod)
	}
	f.untilCounts("a", counts{active: 1, ready: 1, succeeded: 60})
	if n, limit := len(p.wire.recorded(statusPut))-before, int(time.Since(begun)/period)+2; n > limit {
		t.Errorf("%d status writes in %v for 60 pods that ended", n, time.Since(begun))
	}
	f.kubelet.succeed(pods[60])
	f.untilComplete("a", 61, 0)
}

// An OnFailure Job fails when the restarts of init and app containers of pods that run, or
// are about to, reach the limit.
func TestContainerRestartsReachTheLimit_JOB_16(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(completions(2), parallelism(2), backoffLimit(4), onNode, func(s *batchv1.JobSpec) {
		s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		s.Template.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "none"}}
	}))
	pods := f.untilActive(2)
	restarted := func(phase corev1.PodPhase, first, main int32) corev1.PodStatus {
		return corev1.PodStatus{Phase: phase,
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "first", RestartCount: first}},
			ContainerStatuses:     []corev1.ContainerStatus{{Name: containerName, RestartCount: main}},
			Conditions:            []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		}
	}
	f.kubelet.write(pods[0], restarted(corev1.PodRunning, 1, 1))
	f.kubelet.write(pods[1], restarted(corev1.PodPending, 1, 0))
	if job := f.untilCounts("a", counts{active: 2, ready: 2}); history.Is(job, batchv1.JobFailureTarget) {
		t.Error("the Job fails with 3 restarts of 4")
	}
	f.kubelet.write(pods[1], restarted(corev1.PodPending, 2, 0))
	job := f.untilIs("a", batchv1.JobFailureTarget)
	f.wantMessage(job, batchv1.JobFailureTarget, "Job has reached the specified backoff limit")
	f.kubelet.terminate(f.untilPods(2, "terminating", history.IsTerminating)...)
	f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 0, 2)
	f.wantPodsEver(2)
}
