package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

func onFailure(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }

// What the API server asks of the fields of KEP-3850.
func TestAPIServerChecksFieldsPerIndex_BLI_01_BLI_30(t *testing.T) {
	t.Parallel()
	const perIndexField, maxField, parallelismField = "spec.backoffLimitPerIndex", "spec.maxFailedIndexes", "spec.parallelism"
	s := newIdleJobs(t)
	large := func(completions, parallelism int32) jobOption {
		return func(s *batchv1.JobSpec) {
			indexed(completions)(s)
			s.Parallelism = &parallelism
			s.BackoffLimitPerIndex = ptr.To(int32(1))
		}
	}
	for _, c := range []struct {
		what, field string
		options     []jobOption
	}{
		{"a limit in an Indexed Job", "", []jobOption{indexed(3), perIndexLimit(0)}},
		{"a limit in a NonIndexed Job", perIndexField, []jobOption{completions(3), perIndexLimit(1)}},
		{"a negative limit", perIndexField, []jobOption{indexed(3), perIndexLimit(-1)}},
		{"restartPolicy OnFailure", "", []jobOption{indexed(3), perIndexLimit(1), onFailure}},
		{"maxFailedIndexes 0", "", []jobOption{indexed(3), perIndexLimit(1), maxFailedIndexes(0)}},
		{"maxFailedIndexes without a limit", perIndexField, []jobOption{indexed(3), maxFailedIndexes(1)}},
		{"a negative maxFailedIndexes", maxField, []jobOption{indexed(3), perIndexLimit(1), maxFailedIndexes(-1)}},
		{"maxFailedIndexes as completions", "", []jobOption{indexed(3), perIndexLimit(1), maxFailedIndexes(3)}},
		{"maxFailedIndexes over completions", maxField, []jobOption{indexed(3), perIndexLimit(1), maxFailedIndexes(4)}},
		{"1e5 completions at once", "", []jobOption{large(1e5, 1e5), maxFailedIndexes(1e5)}},
		{"parallelism over 1e5", parallelismField, []jobOption{large(1e5, 1e5+1)}},
		{"maxFailedIndexes over 1e5", maxField, []jobOption{large(1e5+1, 1), maxFailedIndexes(1e5 + 1)}},
		{"over 1e5 completions", "", []jobOption{large(1e5+1, 1e4), maxFailedIndexes(1e4)}},
		{"over 1e5 completions, all of which may fail", maxField, []jobOption{large(1e5+1, 1e4)}},
		{"over 1e5 completions, and maxFailedIndexes over 1e4", maxField, []jobOption{large(1e5+1, 1e4), maxFailedIndexes(1e4 + 1)}},
		{"over 1e5 completions, and parallelism over 1e4", parallelismField, []jobOption{large(1e5+1, 1e4+1), maxFailedIndexes(1e4)}},
		{"the largest Job", "", []jobOption{large(1<<31-1, 1e4), maxFailedIndexes(1e4)}},
	} {
		s.rejects(c.what, c.field, c.options...)
	}
	stored := s.store("stored", indexed(3), perIndexLimit(1), maxFailedIndexes(1))
	s.rejectsEdit("another limit", perIndexField, stored, map[string]any{"backoffLimitPerIndex": 2})
	s.rejectsEdit("no limit", perIndexField, stored, map[string]any{"backoffLimitPerIndex": nil})
	s.rejectsEdit("another maxFailedIndexes", "", stored, map[string]any{"maxFailedIndexes": 2})
	if limit := ptr.Deref(stored.Spec.BackoffLimit, 0); limit != 1<<31-1 {
		t.Errorf("backoffLimit is %d by default", limit)
	}
}

// The same failures with and without the field, which alone makes failedIndexes exist,
// and the failure counts of pods.
func TestSameFailuresWithAndWithoutLimit_BLI_01_BLI_03_BLI_10(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options       []jobOption
		failed        string
		failureCounts []string
	}{
		"with":    {[]jobOption{indexed(2), perIndexLimit(2)}, "", []string{"0", "0", "1", "2"}},
		"without": {[]jobOption{indexed(2)}, none, []string{none, none, none, none}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.startController()
			created := f.create(newJob(c.options...))
			f.untilIndexes("a", counts{active: 2}, "", c.failed)
			for i := range int32(2) {
				f.kubelet.fail(f.podOfIndex(1))
				f.untilIndexes("a", counts{active: 2, failed: i + 1}, "", c.failed)
			}
			f.kubelet.play(everySucceeds)
			f.wantIndexes(f.untilComplete("a", 2, 2), "0,1", c.failed)
			f.wantPodsEver(4)
			for i, pod := range f.history.inOrder() {
				f.wantFailureCount(pod, c.failureCounts[i])
			}
			for _, job := range f.statuses(created)[1:] {
				if failedIndexesOf(job) != c.failed {
					t.Errorf("failedIndexes is %q in: %s", failedIndexesOf(job), jobLine(job))
				}
			}
		})
	}
}

// A failed pod is deleted while its index is in back-off: it stays until the next pod of
// its index knows of the failure, or nobody has to.
func TestFailedPodIsDeletedAtOnce_BLI_07_BLI_08(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*fixture, *shiftedClock){
		"replaced": func(f *fixture, clock *shiftedClock) {
			clock.forward(time.Hour)
			f.untilIndexes("a", counts{active: 2, ready: 1, failed: 1}, "", "")
			f.wantFailureCount(f.podOfIndex(0), "1")
			f.untilPods(2, "there", anyPod)
			f.kubelet.play(everySucceeds)
			f.wantIndexes(f.untilComplete("a", 2, 1), "0,1", "")
		},
		"Job fails": func(f *fixture, _ *shiftedClock) {
			f.edit("a", map[string]any{"backoffLimit": 0})
			f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 0, 2), "", "")
			f.untilReleased()
			f.wantPodsEver(2)
		},
		"Job is deleted": func(f *fixture, _ *shiftedClock) {
			f.deleteJob("a", metav1.DeletePropagationForeground)
			f.untilReleased()
			f.wantPodsEver(2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			clock := newShiftedClock(t)
			f.startController(clock.use, withBackoff(time.Hour))
			f.create(newJob(indexed(2), perIndexLimit(1)))
			f.untilIndexes("a", counts{active: 2}, "", "")
			failed := f.podOfIndex(0)
			f.kubelet.fail(failed)
			f.deletePods(failed)
			f.untilIndexes("a", counts{active: 1}, "", "")
			f.kubelet.run(f.podOfIndex(1))
			job := f.untilIndexes("a", counts{active: 1, ready: 1}, "", "")
			if pod := f.history.pod(failed.UID); pod == nil || !history.IsTracked(pod) || len(history.UncountedFailed(job)) > 0 {
				t.Fatalf("the failed pod is %v, and uncounted %v", pod, history.UncountedFailed(job))
			}
			end(f, clock)
		})
	}
}

// Upstream's TestBackoffLimitPerIndex_DelayedPodDeletion: the failed pod is deleted while
// no controller runs.
func TestDeletedFailedPodKeepsItsCount_BLI_07(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(indexed(1), perIndexLimit(1)))
	failed := f.podOfIndex(0)
	f.untilIndexes("a", counts{active: 1}, "", "")
	p.stop()
	f.kubelet.fail(failed)
	f.deletePods(failed)
	f.startController()
	f.untilIndexes("a", counts{active: 1, failed: 1}, "", "")
	next := f.podOfIndex(0)
	f.wantFailureCount(next, "1")
	f.untilPods(1, "there", anyPod)
	f.kubelet.succeed(next)
	f.wantIndexes(f.untilComplete("a", 1, 1), "0", "")
	f.wantPodsEver(2)
}

// duplicate creates a second pod of an index, as a controller does that does not know of
// the first.
func (f *fixture) duplicate(pod *corev1.Pod) *corev1.Pod {
	f.t.Helper()
	twin := &corev1.Pod{ObjectMeta: *pod.ObjectMeta.DeepCopy(), Spec: *pod.Spec.DeepCopy()}
	twin.Name, twin.UID, twin.ResourceVersion, twin.Spec.NodeName = pod.Name+"-twin", "", "", ""
	stored, err := f.client.CoreV1().Pods(f.namespace).Create(f.t.Context(), twin, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatalf("creating a pod: %v", err)
	}
	f.untilSeen(stored)
	return stored
}

// An index never is in both lists, which the API server would not take: of two results
// at once success wins, and after that the first one that was stored.
func TestIndexSucceedsAndFails_BLI_12_STV_21(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// first is the end of the first pod that a controller sees, if it does.
		first             corev1.PodPhase
		between           counts
		completed, failed string
		count             int32
		tolerated         []string
	}{
		"at once":       {"", counts{active: 2}, "0", "", 1, nil},
		"success first": {corev1.PodSucceeded, counts{active: 1, succeeded: 1}, "0", "", 1, nil},
		// The success counts nowhere, which the judge does not know.
		"failure first": {corev1.PodFailed, counts{active: 1, failed: 1}, "", "0", 1, []string{"S2", "S3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.tolerated = append(c.tolerated, "S5", "S6")
			p := f.startController()
			f.create(newJob(indexed(2), perIndexLimit(0)))
			f.untilActive(2)
			pods := []*corev1.Pod{f.podOfIndex(0)}
			if c.first != "" {
				f.kubelet.set(pods, c.first, 0)
			}
			f.untilCounts("a", c.between)
			p.stop()
			twins := []*corev1.Pod{f.duplicate(pods[0])}
			if c.first != corev1.PodFailed {
				f.kubelet.fail(twins...)
				twins = pods
			}
			f.kubelet.succeed(twins...)
			f.startController()
			f.untilPods(1, "tracked", history.IsTracked)
			f.untilIndexes("a", counts{active: 1, succeeded: int32(len(c.completed)), failed: c.count}, c.completed, c.failed)
			f.kubelet.play(everySucceeds)
			if c.failed == "" {
				f.wantIndexes(f.untilComplete("a", 2, c.count), "0,1", "")
			} else {
				f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonFailedIndexes, 1, c.count), "1", "0")
			}
			f.wantPodsEver(3)
		})
	}
}

// A failed index leaves its place to the others.
func TestOtherIndexesGoOn_BLI_13_BLI_17(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(3), parallelism(1), perIndexLimit(0)))
	f.kubelet.fail(f.podOfIndex(0))
	f.untilIndexes("a", counts{active: 1, failed: 1}, "", "0")
	f.kubelet.succeed(f.podOfIndex(1))
	f.untilIndexes("a", counts{active: 1, succeeded: 1, failed: 1}, "1", "0")
	f.kubelet.succeed(f.podOfIndex(2))
	job := f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonFailedIndexes, 2, 1)
	f.wantIndexes(job, "1,2", "0")
	f.wantMessage(job, batchv1.JobFailed, "Job has failed indexes")
	f.wantPodsEver(3)
	f.untilReleased()
}

// Upstream's "terminated early due to exceeding max failed indexes": what still runs
// fails with the Job, and its index does not.
func TestTooManyFailedIndexes_BLI_18_BLI_19_PRP_14(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(3), perIndexLimit(0), maxFailedIndexes(1), onNode))
	f.kubelet.run(f.untilActive(3)...)
	f.untilIndexes("a", counts{active: 3, ready: 3}, "", "")
	last := f.podOfIndex(2)
	f.kubelet.fail(f.podOfIndex(0))
	f.untilIndexes("a", counts{active: 2, ready: 2, failed: 1}, "", "0")
	f.kubelet.fail(f.podOfIndex(1))
	f.untilIndexes("a", counts{terminating: 1, failed: 3}, "", "0,1")
	f.untilIs("a", batchv1.JobFailureTarget)
	f.kubelet.terminate(last)
	job := f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonMaxFailedIndexesExceeded, 0, 3)
	f.wantIndexes(job, "", "0,1")
	f.wantMessage(job, batchv1.JobFailed, "Job has exceeded the specified maximal number of failed indexes")
	f.wantPodsEver(3)
	f.untilReleased()
}

// The same with more pods than one status records: those that are recorded later end
// because the Job does, and their indexes have not failed either.
func TestTooManyFailedIndexesOfMany_BLI_19_TRK_06(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController(func(c *controller.Config) { c.Limits.MaxUncounted = 2 })
	f.create(newJob(indexed(7), perIndexLimit(0), maxFailedIndexes(0)))
	f.untilActive(7)
	f.kubelet.fail(f.podOfIndex(3))
	job := f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonMaxFailedIndexesExceeded, 0, 7)
	f.wantIndexes(job, "", "3")
	f.wantPodsEver(7)
	f.untilReleased()
}

func TestMaxFailedIndexesIsLowered_BLI_20_JOB_54(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(4), perIndexLimit(0), maxFailedIndexes(3), onNode))
	f.untilActive(4)
	f.kubelet.fail(f.podOfIndex(1), f.podOfIndex(2))
	f.untilIndexes("a", counts{active: 2, failed: 2}, "", "1,2")
	f.untilPods(2, "tracked", history.IsTracked)
	f.edit("a", map[string]any{"maxFailedIndexes": 2})
	f.kubelet.run(f.podOfIndex(0))
	f.untilIndexes("a", counts{active: 2, ready: 1, failed: 2}, "", "1,2")
	// Nothing else happens that could bring about a sync.
	f.edit("a", map[string]any{"maxFailedIndexes": 1})
	f.untilIndexes("a", counts{terminating: 2, failed: 4}, "", "1,2")
	f.kubelet.terminate(f.untilPods(2, "terminating", history.IsTerminating)...)
	f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonMaxFailedIndexesExceeded, 0, 4), "", "1,2")
	f.wantPodsEver(4)
}

// Upstream's numbers for both limits at once: each index fails once, and may.
func TestBackoffLimitHoldsBesideTheLimitPerIndex_BLI_09_BLI_21(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(3), perIndexLimit(1), backoffLimit(2)))
	for i := range int32(3) {
		f.untilIndexes("a", counts{active: 3, failed: i}, "", "")
		f.kubelet.fail(f.podOfIndex(i))
	}
	f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 0, 5), "", "")
	f.wantPodsEver(5)
	f.untilReleased()
}

// Indexes that wait give their places to those that need not.
func TestNoHeadOfLineBlocking_BLI_14_BLI_23_BLI_24(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController(neverRetry)
	f.create(newJob(indexed(6), parallelism(2), perIndexLimit(1)))
	f.untilIndexes("a", counts{active: 2}, "", "")
	f.kubelet.fail(f.podOfIndex(0), f.podOfIndex(1))
	f.kubelet.run(f.podOfIndex(2), f.podOfIndex(3))
	// Both wait, and are not counted.
	f.untilIndexes("a", counts{active: 2, ready: 2}, "", "")
	f.kubelet.succeed(f.podOfIndex(2))
	f.kubelet.run(f.podOfIndex(4))
	f.untilIndexes("a", counts{active: 2, ready: 2, succeeded: 1}, "2", "")
	f.kubelet.succeed(f.podOfIndex(4), f.podOfIndex(3))
	f.kubelet.run(f.podOfIndex(5))
	// The other place is free, and the only indexes left for it wait.
	f.untilIndexes("a", counts{active: 1, ready: 1, succeeded: 3}, "2-4", "")
	f.wantPodsEver(6)
}

// A restart in the middle of a wait neither ends nor restarts it.
func TestRestartKeepsTheDelay_BLI_22_BLI_27(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	clock := newShiftedClock(t)
	hours := []func(*controller.Config){clock.use, func(c *controller.Config) {
		c.Limits.Backoff = backoff.Policy{Base: time.Hour, Max: 24 * time.Hour}
	}}
	p := f.startController(hours...)
	f.create(newJob(indexed(2), perIndexLimit(2)))
	f.untilIndexes("a", counts{active: 2}, "", "")

	f.kubelet.fail(f.podOfIndex(0))
	f.untilIndexes("a", counts{active: 1}, "", "")
	p.stop()
	clock.forward(59 * time.Minute)
	p = f.startController(hours...)
	f.kubelet.run(f.podOfIndex(1))
	f.untilIndexes("a", counts{active: 1, ready: 1}, "", "")
	f.wantPodsEver(2)
	clock.forward(time.Minute)
	second := f.podOfIndex(0)
	f.wantFailureCount(second, "1")
	f.untilIndexes("a", counts{active: 2, ready: 1, failed: 1}, "", "")

	// Nodes have not seen the clock put forward: this failure is of an hour ago.
	f.kubelet.fail(second)
	f.untilIndexes("a", counts{active: 1, ready: 1, failed: 1}, "", "")
	p.stop()
	clock.forward(59 * time.Minute)
	f.startController(hours...)
	f.kubelet.succeed(f.podOfIndex(1))
	f.untilIndexes("a", counts{succeeded: 1, failed: 1}, "1", "")
	f.wantPodsEver(3)
	clock.forward(time.Minute)
	third := f.podOfIndex(0)
	f.wantFailureCount(third, "2")
	f.kubelet.fail(third)
	f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonFailedIndexes, 1, 3), "1", "0")
	f.wantPodsEver(4)
}

// A pod that a user deletes is a failure of its index: at once, or when it has ended.
func TestRunningPodsAreDeleted_BLI_29_PRP_05_PRP_06(t *testing.T) {
	t.Parallel()
	for _, policy := range []batchv1.PodReplacementPolicy{batchv1.TerminatingOrFailed, batchv1.Failed} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.startController()
			f.create(newJob(indexed(2), perIndexLimit(1), onNode, replacedWhen(policy)))
			f.kubelet.run(f.podOfIndex(1))
			for i, failed := range []string{"", "0"} {
				before := int32(i)
				pod := f.podOfIndex(0)
				f.wantFailureCount(pod, fmt.Sprint(i))
				f.kubelet.run(pod)
				f.untilIndexes("a", counts{active: 2, ready: 2, failed: before}, "", "")
				f.deletePods(pod)
				if policy == batchv1.Failed {
					f.untilIndexes("a", counts{active: 1, ready: 1, terminating: 1, failed: before}, "", "")
				} else {
					f.untilIndexes("a", counts{active: int32(2 - i), ready: 1, terminating: 1, failed: before + 1}, "", failed)
				}
				f.kubelet.terminate(pod)
				f.untilIndexes("a", counts{active: int32(2 - i), ready: 1, failed: before + 1}, "", failed)
			}
			f.kubelet.succeed(f.podOfIndex(1))
			f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonFailedIndexes, 1, 2), "1", "0")
			f.wantPodsEver(3)
		})
	}
}

// everySecond writes the lists of n indexes, which end well and not in turn, as a
// controller does.
func everySecond(n int32) (completed, failed string) {
	var odd, even []int32
	for i := range n {
		if i%2 == 0 {
			even = append(even, i)
		} else {
			odd = append(odd, i)
		}
	}
	return indexset.Of(even...).String(), indexset.Of(odd...).String()
}

// manyGaps writes the lists of a Job whose 2^31-1 indexes have ended but for n: these,
// and n that failed, leave completedIndexes as many intervals as there can be.
func manyGaps(n int) (completed, failed string) {
	var done, lost []int32
	at := int32(1<<31 - 2)
	for i := range 2 * n {
		done = append(done, at, at-1, at-2)
		if i%2 == 0 {
			lost = append(lost, at-3)
		}
		at -= 4
	}
	return indexset.Of(done...).String(), indexset.Of(lost...).String()
}

// The largest lists that Jobs can come to are stored, and read, and the controller goes
// on with them (KEP-3850, "Risks and Mitigations").
func TestLargestStatusIsStored_BLI_31(t *testing.T) {
	t.Parallel()
	const mi = 1 << 20
	tenTo5, tenTo5Failed := everySecond(1e5)
	largest, largestFailed := manyGaps(1e4)
	for name, c := range map[string]struct {
		completions, maxFailed int32
		completed, failed      string
		succeeded, lost        int32
		limit                  float64
		reason                 string
	}{
		"1e5 indexes, every second failed": {1e5, 1e5, tenTo5, tenTo5Failed, 5e4, 5e4, 0.572 * mi, batchv1.JobReasonFailedIndexes},
		"2^31-1 indexes, 1e4 failed":       {1<<31 - 1, 1e4 - 1, largest, largestFailed, 6e4, 1e4, 0.525 * mi, batchv1.JobReasonMaxFailedIndexesExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := len(c.completed) + len(c.failed)
			t.Logf("%d bytes, %.4f Mi", size, float64(size)/mi)
			if float64(size) > c.limit || float64(size) < 0.99*c.limit-mi*0.006 {
				t.Errorf("the lists have %d bytes, and may have %.0f", size, c.limit)
			}
			f := newFixture(t)
			job := f.create(newJob(indexed(c.completions), parallelism(0), perIndexLimit(0), maxFailedIndexes(c.maxFailed)))
			stored, err := writeStatus(t.Context(), f.client.BatchV1().Jobs(f.namespace), job, []statusEdit{started, func(s *batchv1.JobStatus) {
				s.CompletedIndexes, s.FailedIndexes, s.Succeeded = c.completed, &c.failed, c.succeeded
				s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
			}})
			if err != nil {
				t.Fatalf("writing %d bytes of indexes: %v", size, err)
			}
			f.untilSeen(stored)
			f.startController()
			f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, c.reason, c.succeeded, 0), c.completed, c.failed)
			f.wantPodsEver(0)
		})
	}
}

func TestFinishedIndexesAreCounted_BLI_32(t *testing.T) {
	t.Parallel()
	const metric = "job_finished_indexes_total"
	for name, c := range map[string]struct {
		job     *batchv1.Job
		outcome outcome
		end     batchv1.JobConditionType
		want    map[string]float64
	}{
		"global": {newJob(indexed(4), parallelism(2)), firstFails, batchv1.JobComplete, map[string]float64{
			metric + "{backoffLimit=global,status=succeeded}": 4,
		}},
		"perIndex": {newJob(indexed(2), perIndexLimit(1)), indexFails(1), batchv1.JobFailed, map[string]float64{
			metric + "{backoffLimit=perIndex,status=succeeded}": 1, metric + "{backoffLimit=perIndex,status=failed}": 1,
		}},
		"NonIndexed": {newJob(completions(2), parallelism(2)), firstFails, batchv1.JobComplete, map[string]float64{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			m := f.newMeter()
			f.startController(m.counts)
			f.create(c.job)
			f.kubelet.play(c.outcome)
			f.untilIs("a", c.end)
			f.untilReleased()
			m.until(c.want, metric)
		})
	}
}

// Indexes that leave an elastic Job, and come back, count again: they ran again.
func TestIndexesThatReturnAreCountedAgain_BLI_11_BLI_32(t *testing.T) {
	t.Parallel()
	const metric = "job_finished_indexes_total"
	f := newFixture(t)
	m := f.newMeter()
	f.startController(m.counts)
	f.create(newJob(indexed(4), perIndexLimit(0), maxFailedIndexes(2)))
	f.untilActive(4)
	f.kubelet.fail(f.podOfIndex(1), f.podOfIndex(3))
	f.kubelet.succeed(f.podOfIndex(2))
	f.untilIndexes("a", counts{active: 1, succeeded: 1, failed: 2}, "2", "1,3")
	before := map[string]float64{
		metric + "{backoffLimit=perIndex,status=succeeded}": 1, metric + "{backoffLimit=perIndex,status=failed}": 2,
	}
	m.until(before, metric)
	f.edit("a", map[string]any{"completions": 2, "parallelism": 2, "maxFailedIndexes": 2})
	f.untilIndexes("a", counts{active: 1, failed: 2}, "", "1")
	m.until(before, metric)
	f.edit("a", elastic(4))
	f.untilIndexes("a", counts{active: 3, failed: 2}, "", "1")
	f.kubelet.succeed(f.podOfIndex(2))
	f.untilIndexes("a", counts{active: 2, succeeded: 1, failed: 2}, "2", "1")
	m.until(map[string]float64{
		metric + "{backoffLimit=perIndex,status=succeeded}": 2, metric + "{backoffLimit=perIndex,status=failed}": 2,
	}, metric)
}

// indexFails lets the pods of one index fail, and all others succeed.
func indexFails(i int32) outcome {
	return func(pod *corev1.Pod, _ int) corev1.PodPhase {
		if history.IndexOf(pod) == i {
			return corev1.PodFailed
		}
		return corev1.PodSucceeded
	}
}

// failedIndexes costs no write: the same events lead to as many with and without it.
func TestNoWritesForFailedIndexes_BLI_33(t *testing.T) {
	t.Parallel()
	var writes []int
	for _, job := range []*batchv1.Job{newJob(indexed(3)), newJob(indexed(3), perIndexLimit(1))} {
		f := newFixture(t)
		p := f.startController(oneByOne)
		created := f.create(job)
		f.kubelet.run(f.untilActive(3)...)
		f.untilCounts("a", counts{active: 3, ready: 3})
		before := p.wire.answered(statusPut, http.StatusOK)
		f.kubelet.fail(f.podOfIndex(1))
		f.untilJob("a", "counts the failure", func(job *batchv1.Job) bool { return job.Status.Failed == 1 && job.Status.Active == 3 })
		for i, ready := range []int32{1, 1, 0} {
			f.kubelet.succeed(f.podOfIndex(int32(i)))
			f.untilCounts("a", counts{active: int32(2 - i), ready: ready, succeeded: int32(i + 1), failed: 1})
		}
		f.untilComplete("a", 3, 1)
		p.stop()
		writes = append(writes, p.wire.answered(statusPut, http.StatusOK)-before)
		for i, job := range f.statuses(created)[1:] {
			before := f.statuses(created)[i].Status
			before.FailedIndexes = job.Status.FailedIndexes
			if fmt.Sprint(before) == fmt.Sprint(job.Status) {
				t.Errorf("only failedIndexes has changed: %s", jobLine(job))
			}
		}
	}
	// What happens at nearly the same time may be in one write or in two.
	if more := writes[1] - writes[0]; more < -1 || more > 1 {
		t.Errorf("%d status writes with backoffLimitPerIndex, and %d without", writes[1], writes[0])
	}
}

// The API server accepts both, although failures of containers that are restarted do not
// count: the Job runs, and one event warns the user.
func TestOnFailureJobPerIndexRuns_BLI_40(t *testing.T) {
	t.Parallel()
	const reason = "BackoffLimitPerIndexOnFailure"
	f := newFixture(t)
	f.startController(f.telling)
	f.create(newJob(indexed(2), perIndexLimit(1), onFailure))
	f.untilIndexes("a", counts{active: 2}, "", "")
	e := f.untilEvent("a", reason)
	if e.Type != corev1.EventTypeWarning || !strings.Contains(e.Message, "backoffLimitPerIndex") {
		t.Errorf("the event is %s: %s", e.Type, e.Message)
	}
	for i, failed := range []string{"", "1"} {
		pod := f.podOfIndex(1)
		f.wantFailureCount(pod, fmt.Sprint(i))
		f.kubelet.fail(pod)
		f.untilIndexes("a", counts{active: int32(2 - i), failed: int32(i + 1)}, "", failed)
	}
	f.kubelet.succeed(f.podOfIndex(0))
	f.wantIndexes(f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonFailedIndexes, 1, 2), "0", "1")
	// All events of a controller come one after the other.
	f.untilEvent("a", batchv1.JobReasonFailedIndexes)
	if n := f.said("a", reason); n != 1 {
		t.Errorf("%s was said %d times", reason, n)
	}
	if slices.ContainsFunc(f.history.inOrder(), func(pod *corev1.Pod) bool { return pod == nil }) {
		t.Error("a pod is gone")
	}
	f.wantPodsEver(3)
}
