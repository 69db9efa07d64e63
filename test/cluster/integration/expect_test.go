package integration

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// counts are the numbers of a Job's status, uncounted pods included.
type counts struct {
	active, ready, terminating, succeeded, failed int32
}

func countsOf(job *batchv1.Job) counts {
	s := &job.Status
	c := counts{s.Active, ptr.Deref(s.Ready, 0), ptr.Deref(s.Terminating, 0), s.Succeeded, s.Failed}
	c.succeeded += int32(len(history.UncountedSucceeded(&job.Status)))
	c.failed += int32(len(history.UncountedFailed(&job.Status)))
	return c
}

// untilJob waits until the Job has reached a state, even briefly, since the last event that the test caused or waited
// for. It returns that version of the Job.
func (f *fixture) untilJob(name, what string, reached func(*batchv1.Job) bool) *batchv1.Job {
	f.t.Helper()
	var job *batchv1.Job
	at := 0
	f.until(fmt.Sprintf("Job %s %s", name, what), func() bool {
		job, at = f.history.jobSince(f.now, name, reached)
		return job != nil
	})
	f.now = max(f.now, at)
	f.untilPodsAreSeen()
	return job
}

// untilPodsAreSeen waits until the history shows the pods at least in their present state. Jobs and pods come from two
// watches: a later event from one watch does not imply that the other has delivered earlier events.
func (f *fixture) untilPodsAreSeen() {
	f.t.Helper()
	list, err := f.client.CoreV1().Pods(f.namespace).List(f.t.Context(), metav1.ListOptions{})
	assert.NoError(f.t, err)
	f.until("the history shows the pods as they are", func() bool {
		return !slices.ContainsFunc(list.Items, func(pod corev1.Pod) bool { return !f.history.Has(&pod) })
	})
}

// untilCounts waits for a status with exactly these numbers.
func (f *fixture) untilCounts(name string, want counts) *batchv1.Job {
	f.t.Helper()
	return f.untilJob(name, fmt.Sprintf("counts %+v", want), func(job *batchv1.Job) bool { return countsOf(job) == want })
}

// untilWorking waits until the controller has filled its cache and works. It creates a Job without pods for that.
func (f *fixture) untilWorking() {
	f.t.Helper()
	f.create(named("idle", newJob(parallelism(0))))
	f.untilJob("idle", "is started", func(job *batchv1.Job) bool { return job.Status.StartTime != nil })
}

func (f *fixture) untilIs(name string, t batchv1.JobConditionType) *batchv1.Job {
	f.t.Helper()
	return f.untilJob(name, "is "+string(t), func(job *batchv1.Job) bool { return history.Is(job, t) })
}

// untilFinished waits for the terminal condition, and checks the counts and the reasons of both conditions.
func (f *fixture) untilFinished(name string, t batchv1.JobConditionType, reason string, succeeded, failed int32) *batchv1.Job {
	f.t.Helper()
	job := f.untilJob(name, "is finished", history.IsFinished)
	interim := map[batchv1.JobConditionType]batchv1.JobConditionType{
		batchv1.JobComplete: batchv1.JobSuccessCriteriaMet, batchv1.JobFailed: batchv1.JobFailureTarget,
	}[t]
	for _, t := range []batchv1.JobConditionType{interim, t} {
		if c := history.Condition(job, t); c == nil || c.Reason != reason {
			f.t.Errorf("condition %s is %v, want it True with reason %s", t, c, reason)
		}
	}
	if got, want := countsOf(job), (counts{succeeded: succeeded, failed: failed}); got != want {
		f.t.Errorf("the finished Job counts %+v, want %+v", got, want)
	}
	if n := len(history.UncountedFailed(&job.Status)) + len(history.UncountedSucceeded(&job.Status)); n != 0 {
		f.t.Errorf("the finished Job has %d uncounted pods", n)
	}
	return job
}

func (f *fixture) untilComplete(name string, succeeded, failed int32) *batchv1.Job {
	f.t.Helper()
	return f.untilFinished(name, batchv1.JobComplete, batchv1.JobReasonCompletionsReached, succeeded, failed)
}

// which selects pods.
type which func(*corev1.Pod) bool

func anyPod(*corev1.Pod) bool { return true }

func (f *fixture) pods(chosen which) []*corev1.Pod {
	return slices.DeleteFunc(f.history.existing(), func(pod *corev1.Pod) bool { return !chosen(pod) })
}

// untilPods waits until exactly n of the existing pods are selected, and returns them.
func (f *fixture) untilPods(n int, what string, chosen which) []*corev1.Pod {
	f.t.Helper()
	var pods []*corev1.Pod
	f.until(fmt.Sprintf("%d pods are %s", n, what), func() bool {
		pods = f.pods(chosen)
		return len(pods) == n
	})
	return pods
}

func (f *fixture) untilActive(n int) []*corev1.Pod {
	f.t.Helper()
	return f.untilPods(n, "active", history.IsActive)
}

// untilReleased waits until no pod of the namespace holds the tracking finalizer.
func (f *fixture) untilReleased() {
	f.t.Helper()
	f.untilPods(0, "tracked", history.IsTracked)
}

// wantPodsEver checks how many pods have existed.
func (f *fixture) wantPodsEver(n int) {
	f.t.Helper()
	if got := len(f.history.inOrder()); got != n {
		f.t.Errorf("%d pods were created, want %d", got, n)
	}
}

// none is the failedIndexes of a status without the field.
const none = "none"

// failedIndexesOf returns the failed indexes; an empty list differs from an unset one.
func failedIndexesOf(job *batchv1.Job) string { return ptr.Deref(job.Status.FailedIndexes, none) }

func (f *fixture) wantIndexes(job *batchv1.Job, completed, failed string) {
	f.t.Helper()
	if job.Status.CompletedIndexes != completed || failedIndexesOf(job) != failed {
		f.t.Errorf("completedIndexes %q, failedIndexes %q, want %q, %q", job.Status.CompletedIndexes, failedIndexesOf(job), completed, failed)
	}
}

// ofJob selects the active pods of the named Job.
func ofJob(name string) which {
	return func(pod *corev1.Pod) bool { return history.IsActive(pod) && pod.Labels[batchv1.JobNameLabel] == name }
}

// podOf waits for the only active pod of a Job.
func (f *fixture) podOf(job string) *corev1.Pod {
	f.t.Helper()
	return f.untilPods(1, "of Job "+job, ofJob(job))[0]
}

// indexOfJob waits for the only active pod of an index of a Job.
func (f *fixture) indexOfJob(job string, index int32) *corev1.Pod {
	f.t.Helper()
	return f.untilPods(1, fmt.Sprintf("of index %d of Job %s", index, job), func(pod *corev1.Pod) bool {
		return ofJob(job)(pod) && history.IndexOf(pod) == index
	})[0]
}
