package integration

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// A creation whose answer is lost is not repeated, by the same controller, which
// no watch reports the pod, or by the next.
func TestCreationAnswerIsLost_TRK_18(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"same controller", "next controller"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			f.untilWorking()
			p.wire.freeze(watches("pods"))
			loss := p.wire.loseAnswer(podPost)
			f.create(newJob(indexed(3)))
			f.until("an answer is lost", func() bool { return loss.count() > 0 })
			if name == "next controller" {
				p.crash()
				f.startController()
			}
			loss.lift()
			f.untilCounts("a", counts{active: 3})
			p.wire.thaw()
			f.kubelet.play(everySucceeds)
			f.untilComplete("a", 3, 0)
			f.wantPodsEver(3)
		})
	}
}

// The end of a Job is decided, and the controller is away while the pods end.
func TestRestartAfterFailureTarget_TRK_03_PRP_16(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController(neverRetry)
	f.create(newJob(completions(3), parallelism(3), backoffLimit(0), onNode))
	pods := f.untilActive(3)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 3, ready: 3})
	// Neither the removal of finalizers nor the DELETEs get through.
	p.wire.reject(podPatch, 500)
	p.wire.reject(podDelete, 500)
	f.kubelet.fail(pods[0])
	f.untilIs("a", batchv1.JobFailureTarget)
	p.crash()

	// One of the running pods succeeds: it is recorded as failed, and stays so.
	f.kubelet.succeed(pods[1])
	f.startController()
	f.kubelet.play(noneEnds)
	f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 0, 3)
	f.wantPodsEver(3)
	f.untilReleased()
}

// Between the interim and the terminal condition there is a restart.
func TestRestartBeforeComplete_MGB_09(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	end := p.wire.reject(statusPut.holding(string(batchv1.JobComplete)), 500)
	f.create(newJob(completions(2), parallelism(2)))
	f.kubelet.play(everySucceeds)
	f.until("the terminal condition was to be written", func() bool { return end.count() > 0 })
	// The history is a watch of its own, which may be behind.
	f.untilIs("a", batchv1.JobSuccessCriteriaMet)
	if job := f.history.job("a"); history.IsFinished(job) {
		t.Errorf("the conditions are %v", job.Status.Conditions)
	}
	p.crash()
	f.startController()
	f.untilComplete("a", 2, 0)
}

// Upstream's TestJobFailedWithInterrupts: one of ten fails, with no failure
// allowed, and a restart in the middle.
func TestOneOfTenFailsWithRestart_TRK_32(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(10), parallelism(10), backoffLimit(0)))
	pods := f.untilActive(10)
	f.kubelet.succeed(pods[:4]...)
	p.stop()
	f.kubelet.fail(pods[4])
	f.kubelet.succeed(pods[5:]...)
	f.startController()
	f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 9, 1)
	f.wantPodsEver(10)
	f.untilReleased()
}

// Upstream's TestNonParallelJob: a restart between all phases of a one-pod Job.
func TestRestartBetweenAllPhases_JOB_62(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	restart := func() {
		p.stop()
		p = f.startController()
	}
	f.create(newJob(completions(1)))
	f.untilCounts("a", counts{active: 1})
	restart()
	f.kubelet.fail(f.untilActive(1)...)
	f.untilCounts("a", counts{active: 1, failed: 1})
	restart()
	f.kubelet.run(f.untilActive(1)...)
	f.untilCounts("a", counts{active: 1, ready: 1, failed: 1})
	restart()
	f.kubelet.succeed(f.untilActive(1)...)
	f.untilComplete("a", 1, 1)
	restart()
	f.wantPodsEver(2)
	f.untilReleased()
}

// Two controllers run at once, as they may for a moment when the leader changes.
// They create pods too many, and yet count each that ends exactly once.
func TestTwoControllersAtOnce_JOB_56_TRK_03(t *testing.T) {
	t.Parallel()
	for name, job := range map[string]*batchv1.Job{
		"NonIndexed": newJob(completions(3), parallelism(2), backoffLimit(1)),
		"Indexed":    newJob(indexed(3), backoffLimit(1), onNode),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.tolerated = []string{"S5", "S6", "L2"}
			f.startController()
			f.startController()
			f.create(job)
			f.kubelet.play(firstFails)
			done := f.untilIs("a", batchv1.JobComplete)
			f.untilReleased()
			if got := countsOf(done); got.failed > 1 || got.succeeded < 3 || name == "Indexed" && got.succeeded > 3 {
				t.Errorf("the Job counts %+v", got)
			}
		})
	}
}
