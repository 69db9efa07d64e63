package integration

import (
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// twoFail makes the pods of indexes 2 and 4 of Job a fail once all others have succeeded; without indexes, the second
// and the fourth pod. In the Job's retries, all pods succeed.
func (f *fixture) twoFail(pod *corev1.Pod, nth int) corev1.PodPhase {
	index, isIndexed := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	fails := index == "2" || index == "4"
	if !isIndexed {
		fails = nth == 2 || nth == 4
	}
	switch {
	case !fails, metav1.GetControllerOf(pod).Name != "a":
		return corev1.PodSucceeded
	case f.history.job("a").Status.Succeeded < 4:
		return ""
	}
	return corev1.PodFailed
}

// readJob returns nil for a Job that does not exist.
func (f *fixture) readJob(name string) *batchv1.Job {
	f.t.Helper()
	job, err := f.client.BatchV1().Jobs(f.namespace).Get(f.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return job
}

func (f *fixture) untilEndsAs(name string, as batchv1.JobConditionType) *batchv1.Job {
	f.t.Helper()
	f.until(name+" is "+string(as), func() bool {
		job := f.readJob(name)
		return job != nil && reconcile.FinishedCondition(job) == as
	})
	return f.readJob(name)
}

// ranIndexes returns the indexes of a Job's pods, in the order of their names.
func (f *fixture) ranIndexes(job string) string {
	f.t.Helper()
	list, err := f.client.CoreV1().Pods(f.namespace).List(f.t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
	assert.NoError(f.t, err)
	var indexes []string
	for i := range list.Items {
		indexes = append(indexes, list.Items[i].Annotations[batchv1.JobCompletionIndexAnnotation])
	}
	return strings.Join(indexes, " ")
}

const queueLabel = "kueue.x-k8s.io/queue-name"

// retryCases are Jobs with six completions, of which two fail.
var retryCases = []struct {
	name    string
	options []jobOption
	failed  string // the reason
	// succeeded is the final count of the retry, if not six.
	succeeded int32
	complete  string // the reason, if not that the completions are reached
	queue     bool
}{
	{name: "Indexed", options: []jobOption{indexed(6), backoffLimit(0)}, failed: batchv1.JobReasonBackoffLimitExceeded},
	{name: "NonIndexed", options: []jobOption{completions(6), backoffLimit(0)}, failed: batchv1.JobReasonBackoffLimitExceeded, succeeded: 2},
	{name: "backoffLimitPerIndex", options: []jobOption{indexed(6), perIndexLimit(0)}, failed: batchv1.JobReasonFailedIndexes},
	{
		name: "successPolicy", options: []jobOption{indexed(6), backoffLimit(0), successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: ptr.To("2-4")})},
		failed: batchv1.JobReasonBackoffLimitExceeded, complete: batchv1.JobReasonSuccessPolicy,
	},
	{name: "podReplacementPolicy", options: []jobOption{indexed(6), backoffLimit(0), replacedWhen(batchv1.Failed)}, failed: batchv1.JobReasonBackoffLimitExceeded},
	{name: "maxFailedIndexes", options: []jobOption{indexed(6), perIndexLimit(0), maxFailedIndexes(1)}, failed: batchv1.JobReasonMaxFailedIndexesExceeded},
	{name: "queue", options: []jobOption{indexed(6), backoffLimit(0)}, failed: batchv1.JobReasonBackoffLimitExceeded, queue: true},
}

// Exactly the missing indexes run again, and the Job completes as if it had run all.
// Requirements: RTY-01, RTY-03, RTY-04, RTY-18
func TestRetryRunsWhatIsMissing(t *testing.T) {
	t.Parallel()
	testRetryCases(t, false)
}

func testRetryCases(t *testing.T, builtin bool) {
	t.Run("37 of 10,000 indexes", func(t *testing.T) { testLargeRetry(t, builtin) })
	t.Run("scaled up", func(t *testing.T) { testScaledRetry(t, builtin) })
	for _, c := range retryCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			job := newJob(append(c.options, parallelism(6), onNode)...)
			if builtin {
				job.Spec.ManagedBy = nil
			} else {
				f.startController()
			}
			if c.queue {
				job.Labels = map[string]string{queueLabel: "gpu"}
			}
			f.create(job)
			f.kubelet.play(f.twoFail)
			f.untilEndsAs("a", batchv1.JobFailed)
			if failed := history.Condition(f.readJob("a"), batchv1.JobFailed); failed.Reason != c.failed {
				t.Fatalf("it failed otherwise: %+v", failed)
			}
			f.startPlugin("retry", "a").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "")
			if c.queue {
				f.admit("a-retry-1")
			}
			f.wantRetried(c.complete, c.succeeded)
			f.startPlugin("retry", "a").wantEnd(cmdutil.ExitError, "", "nothing is missing: job.batch/a-retry-1 has completed what a did not")
			if c.succeeded == 0 && !c.queue {
				f.startPlugin("retry", "job/a", "--indexes", "0").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-2 created\n", "It runs index 0;")
				f.untilEndsAs("a-retry-2", batchv1.JobComplete)
				assert.Equal(t, f.ranIndexes("a-retry-2"), "0", "ran")
			}
			for _, job := range []string{"a", "a-retry-1"} { // RTY-20
				f.startPlugin("why", job, "--full").wantEnd(cmdutil.ExitDone, "Retries: complete, by a-retry-1", "")
			}
			if c.failed == batchv1.JobReasonFailedIndexes { // In the others, the first failure may stop the second pod.
				f.startPlugin("why", "a", "--full").wantEnd(cmdutil.ExitDone, "Indexes 2,4 failed in a (exit code 1); completed in a-retry-1.", "")
			}
		})
	}
}

// testLargeRetry retries a Job of another controller. The test writes its status, so that the 9,963 other indexes need
// no pods.
func testLargeRetry(t *testing.T, builtin bool) {
	t.Parallel()
	f := newFixture(t)
	const n, every = 10_000, 271
	var failing []int32
	for i := int32(0); i < n; i += every {
		failing = append(failing, i)
	}
	failed := indexset.Of(failing...)
	completed := indexset.Below(n).Difference(failed)
	job := f.create(newJob(managedBy(otherController), indexed(n), parallelism(50), perIndexLimit(0), onNode))
	counted := func(s *batchv1.JobStatus) {
		s.CompletedIndexes, s.FailedIndexes, s.Succeeded = completed.String(), ptr.To(failed.String()), int32(completed.Len())
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	for _, edits := range [][]statusEdit{{started, counted, with(batchv1.JobFailureTarget)}, {with(batchv1.JobFailed)}} {
		stored, err := writeStatus(t.Context(), f.client.BatchV1().Jobs(f.namespace), job, edits)
		assert.NoError(t, err)
		job = stored
	}
	f.untilSeen(job)
	patch := `{"spec":{"managedBy":null}}`
	if !builtin {
		patch = `{"spec":{"managedBy":"` + controller.DefaultManagedBy + `"}}`
		f.startController()
	}
	f.startPlugin("retry", "a", "--patch", patch).wantEnd(cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "It runs 37 indexes (")
	f.kubelet.play(everySucceeds)
	made := f.untilComplete("a-retry-1", n, 0)
	ran := indexset.Set{}
	for index := range strings.FieldsSeq(f.ranIndexes("a-retry-1")) {
		i, err := strconv.Atoi(index)
		if err != nil || ran.Contains(int32(i)) {
			t.Errorf("index %q ran again: %v", index, err)
		}
		ran = ran.Union(indexset.Of(int32(i)))
	}
	if !ran.Equal(failed) || made.Status.CompletedIndexes != "0-9999" {
		t.Errorf("ran %s, want %s; completed %.50s", ran, failed, made.Status.CompletedIndexes)
	}
}

// testScaledRetry scales the retry of an elastic Job from 4 indexes to 8 (RTY-25).
func testScaledRetry(t *testing.T, builtin bool) {
	t.Parallel()
	f := newFixture(t)
	job := newJob(indexed(4), parallelism(4), backoffLimit(0), onNode)
	if builtin {
		job.Spec.ManagedBy = nil
	} else {
		f.startController()
	}
	f.create(job)
	f.kubelet.play(func(pod *corev1.Pod, _ int) corev1.PodPhase {
		switch owner := metav1.GetControllerOf(pod).Name; {
		case owner == "a" && pod.Annotations[batchv1.JobCompletionIndexAnnotation] != "2", owner != "a" && *f.history.job(owner).Spec.Completions == 8:
			return corev1.PodSucceeded
		case owner == "a" && f.history.job("a").Status.Succeeded == 3:
			return corev1.PodFailed
		}
		return ""
	})
	f.untilEndsAs("a", batchv1.JobFailed)
	f.startPlugin("retry", "a").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "It runs index 2;")
	f.edit("a-retry-1", elastic(8))
	made := f.untilComplete("a-retry-1", 8, 0)
	if ran := f.ranIndexes("a-retry-1"); ran != "2 4 5 6 7" || made.Status.CompletedIndexes != "0-7" {
		t.Errorf("ran %s, completed %s", ran, made.Status.CompletedIndexes)
	}
}

// The API server accepts names longer than a label for Jobs with a manual selector. They are retried and explained like
// all others.
//
// Requirements: RTY-09, RTY-14
func TestRetryOfALongName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	long := strings.Repeat("long-name-", 12) + "a"
	f.create(named(long, newJob(selecting("app", "train"), completions(2), parallelism(2), backoffLimit(0), onNode)))
	f.kubelet.play(func(*corev1.Pod, int) corev1.PodPhase { return corev1.PodFailed })
	f.untilEndsAs(long, batchv1.JobFailed)
	f.startPlugin("retry", long).wantEnd(cmdutil.ExitDone, "-retry-1 created\n", "It runs the 2 completions that are missing.")
	f.startPlugin("why", long, "--full").wantEnd(cmdutil.ExitDone, "Retries: ", "")
	list, err := f.client.BatchV1().Jobs(f.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: retry.OfLabel + "=" + retry.LabelOf(long)})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	f.untilEndsAs(list.Items[0].Name, batchv1.JobFailed)
	f.startPlugin("retry", list.Items[0].Name).wantEnd(cmdutil.ExitDone, "-retry-2 created\n", "")
}

// wantRetried waits for the end of the retry, which has run only its two indexes or completions.
func (f *fixture) wantRetried(reason string, succeeded int32) {
	f.t.Helper()
	ran, completed := " ", "" // two pods without an index
	if succeeded == 0 {
		ran, completed, succeeded = "2 4", "0-5", 6
	}
	if reason == "" {
		reason = batchv1.JobReasonCompletionsReached
	}
	made := f.untilFinished("a-retry-1", batchv1.JobComplete, reason, succeeded, 0)
	if made.Status.CompletedIndexes != completed || ptr.Deref(made.Status.FailedIndexes, "") != "" || f.ranIndexes("a-retry-1") != ran {
		f.t.Errorf("%+v, ran %q, want %q", made.Status, f.ranIndexes("a-retry-1"), ran)
	}
	if *made.Spec.Parallelism != 6 || *made.Spec.Suspend || retry.IsPending(made) {
		f.t.Errorf("%+v", made.Spec)
	}
}

// admit resumes a Job as Kueue does when its queue has room. No pod runs before.
func (f *fixture) admit(name string) {
	f.t.Helper()
	f.untilIs(name, batchv1.JobSuspended)
	if job := f.readJob(name); job.Labels[queueLabel] != "gpu" || *job.Spec.Parallelism != 6 || !*job.Spec.Suspend || f.ranIndexes(name) != "" {
		f.t.Errorf("before it is admitted: %v %+v", job.Labels, job.Spec)
	}
	f.edit(name, map[string]any{"suspend": false})
}
