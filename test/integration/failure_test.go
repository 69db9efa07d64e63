package integration

import (
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// withBackoff sets the wait after the first failure.
func withBackoff(base time.Duration) func(*controller.Config) {
	return func(c *controller.Config) { c.Limits.Backoff = backoff.Policy{Base: base, Max: time.Hour} }
}

// neverRetry makes a controller that replaces no failed pod within a test.
func neverRetry(c *controller.Config) { withBackoff(time.Hour)(c) }

// Finish times have whole seconds: the wait after a failure is up to one second
// shorter than it says, and ends on a full second, so that no creationTimestamp
// can be before it.
func TestFailedIndexIsRetriedAfterItsDelay_JOB_18_JOB_19_BLI_26(t *testing.T) {
	t.Parallel()
	const base = 2 * time.Second
	f := newFixture(t)
	f.startController(withBackoff(base))
	f.create(newJob(indexed(5)))
	f.kubelet.run(f.untilActive(5)...)
	f.untilCounts("a", counts{active: 5, ready: 5})

	for i, wait := range []time.Duration{base, 2 * base} {
		pod := f.untilPods(1, "of index 3", ofIndex(3))[0]
		f.kubelet.fail(pod)
		// The other pods are reported while creation waits.
		f.untilCounts("a", counts{active: 4, ready: 4, failed: int32(i + 1)})
		next := f.untilPods(1, "of index 3", ofIndex(3))[0]
		finished := f.history.pod(pod.UID).Status.ContainerStatuses[0].State.Terminated.FinishedAt
		if waited := next.CreationTimestamp.Sub(finished.Time); waited < wait {
			t.Errorf("the pod after failure %d came after %v, want %v", i+1, waited, wait)
		}
		if got, want := next.Annotations[controller.AttemptAnnotation], strconv.Itoa(i+2); got != want {
			t.Errorf("the pod after failure %d is attempt %s, want %s", i+1, got, want)
		}
		f.kubelet.run(next)
		f.untilCounts("a", counts{active: 5, ready: 5, failed: int32(i + 1)})
	}
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 5, 2)
	f.wantPodsEver(7)
	f.untilReleased()
}

// What still runs when a Job fails is deleted and counted, whatever the
// podReplacementPolicy; the Job is Failed when it has ended.
func TestFailingJobDeletesAndCountsItsPods_JOB_15_MGB_08_MGB_10_PRP_14_PRP_16_TRK_15(t *testing.T) {
	t.Parallel()
	for _, policy := range []batchv1.PodReplacementPolicy{batchv1.TerminatingOrFailed, batchv1.Failed} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.startController(neverRetry)
			f.create(newJob(completions(3), parallelism(3), backoffLimit(1), onNode, replacedWhen(policy)))
			pods := f.untilActive(3)
			f.kubelet.run(pods...)
			f.kubelet.fail(pods[0])
			f.untilCounts("a", counts{active: 2, ready: 2, failed: 1})
			f.kubelet.fail(pods[1])

			job := f.untilCounts("a", counts{terminating: 1, failed: 3})
			c := history.Condition(job, batchv1.JobFailureTarget)
			if c == nil || c.Message != "Job has reached the specified backoff limit" {
				t.Errorf("FailureTarget is %v", c)
			}
			f.untilPods(1, "terminating", history.IsTerminating)
			if history.Is(f.history.job("a"), batchv1.JobFailed) {
				t.Error("the Job is Failed, and a pod still runs")
			}
			f.kubelet.terminate(pods[2])
			f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 0, 3)
			f.wantPodsEver(3)
			f.untilReleased()
		})
	}
}

// Upstream's TestFinalizersClearedWhenBackoffLimitExceeded: of many pods one fails,
// with no failure allowed, and a status records half of them at a time.
func TestManyPodsOverBackoffLimit_TRK_06_TRK_31(t *testing.T) {
	t.Parallel()
	const pods, limit = 100, 50
	f := newFixture(t)
	f.startController(func(c *controller.Config) { c.Limits.MaxUncounted = limit })
	f.create(newJob(completions(pods), parallelism(pods), backoffLimit(0)))
	f.kubelet.fail(f.untilActive(pods)[0])
	f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 0, pods)
	f.wantPodsEver(pods)
	f.untilReleased()
	for _, v := range f.history.sorted() {
		if v.job != nil && len(history.UncountedFailed(v.job)) > limit {
			t.Fatalf("a status records %d pods", len(history.UncountedFailed(v.job)))
		}
	}
}

func TestBackoffLimitIsLowered_JOB_17_JOB_54(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController(neverRetry)
	f.create(newJob(completions(2), parallelism(2)))
	f.kubelet.fail(f.untilActive(2)[0])
	f.untilCounts("a", counts{active: 1, failed: 1})
	f.edit("a", map[string]any{"backoffLimit": 0})
	f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 0, 2)
}

func TestShortenedDeadlineFailsTheJob_JOB_23_JOB_24_MGB_08(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(completions(2), parallelism(2), onNode, func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = ptr.To(int64(3600)) }))
	f.kubelet.run(f.untilActive(2)...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	f.edit("a", map[string]any{"activeDeadlineSeconds": 1})
	f.untilIs("a", batchv1.JobFailureTarget)
	f.kubelet.play(noneEnds)
	f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded, 0, 2)
}
