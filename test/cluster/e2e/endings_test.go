package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Messages of the built-in controller.
const (
	completionsReached = "Reached expected number of succeeded pods"
	deadlineExceeded   = "Job was active longer than specified deadline"
	someIndexesFailed  = "Job has failed indexes"
	tooManyFailed      = "Job has exceeded the specified maximal number of failed indexes"
)

// ending is the expected status of a finished Job.
type ending struct {
	// terminal is Complete or Failed. The corresponding interim condition has the same reason and message.
	terminal        batchv1.JobConditionType
	reason, message string
	// resumed reports whether the Job was suspended before, and has the condition Suspended.
	resumed           bool
	succeeded, failed int32
	completed         string
	failedIndexes     *string
	// pods is the number of pods that ever existed.
	pods int
}

func complete(reason, message string, succeeded, failed int32, completed string, pods int) ending {
	return ending{terminal: batchv1.JobComplete, reason: reason, message: message, succeeded: succeeded, failed: failed, completed: completed, pods: pods}
}

func failure(reason, message string, succeeded, failed int32, completed string, pods int) ending {
	e := complete(reason, message, succeeded, failed, completed, pods)
	e.terminal = batchv1.JobFailed
	return e
}

func (e ending) withFailedIndexes(indexes string) ending {
	e.failedIndexes = &indexes
	return e
}

func (e ending) afterResume() ending {
	e.resumed = true
	return e
}

// containerFailed returns the message of a FailJob rule about the pod of an attempt, written as {index.attempt}:
// untilEnd inserts the pod's name.
func containerFailed(container, attempt string, code, rule int) string {
	return fmt.Sprintf("Container %s for pod {%s} failed with exit code %d matching FailJob rule at index %d", container, attempt, code, rule)
}

// untilEnd waits for the end of a Job, and checks its whole status and how it was reached: the interim condition came
// first, in a write of its own (MGB-09), and no pod is running or holds the tracking finalizer.
func untilEnd(t *testing.T, namespace, name string, want ending) *batchv1.Job {
	t.Helper()
	job := untilJob(t, namespace, name, "a terminal condition", history.IsFinished)
	untilReleased(t, namespace, name)
	pods := past.pods(namespace, name)
	interim := map[batchv1.JobConditionType]batchv1.JobConditionType{
		batchv1.JobComplete: batchv1.JobSuccessCriteriaMet, batchv1.JobFailed: batchv1.JobFailureTarget,
	}[want.terminal]
	message := withPodNames(t, pods, want.message)
	conditions := []string{
		fmt.Sprintf("%s=True %s: %s", interim, want.reason, message), fmt.Sprintf("%s=True %s: %s", want.terminal, want.reason, message),
	}
	if want.resumed {
		conditions = append([]string{"Suspended=False JobResumed: Job resumed"}, conditions...)
	}
	assert.SlicesEqual(t, conditionsOf(job), conditions, name)
	if !slices.ContainsFunc(past.job(namespace, name), func(j *batchv1.Job) bool { return history.Condition(j, interim) != nil && !history.IsFinished(j) }) {
		t.Errorf("%s: %s was never there without %s", name, interim, want.terminal)
	}
	s := job.Status
	if s.Succeeded != want.succeeded || s.Failed != want.failed || s.CompletedIndexes != want.completed || !ptr.Equal(s.FailedIndexes, want.failedIndexes) {
		t.Errorf("%s: succeeded %d, failed %d, completedIndexes %q, failedIndexes %s, want %d, %d, %q, %s", name,
			s.Succeeded, s.Failed, s.CompletedIndexes, quoted(s.FailedIndexes), want.succeeded, want.failed, want.completed, quoted(want.failedIndexes))
	}
	if s.Active != 0 || ptr.Deref(s.Ready, -1) != 0 || ptr.Deref(s.Terminating, -1) != 0 {
		t.Errorf("%s: active %d, ready %s, terminating %s, want 0 of each", name, s.Active, text(s.Ready), text(s.Terminating))
	}
	if u := s.UncountedTerminatedPods; u == nil || len(u.Succeeded)+len(u.Failed) != 0 {
		t.Errorf("%s: uncounted pods %v, want an empty list", name, u)
	}
	if (s.CompletionTime != nil) != (want.terminal == batchv1.JobComplete) || s.StartTime == nil {
		t.Errorf("%s: startTime %v, completionTime %v", name, s.StartTime, s.CompletionTime)
	}
	assert.Equal(t, len(pods), want.pods, name)
	return job
}

// untilReleased waits until the history shows that no pod is running or holds the tracking finalizer. This is already
// true when the Job gets its terminal condition, but arrives by another watch.
func untilReleased(t *testing.T, namespace, name string) {
	t.Helper()
	stored := pods(t, namespace, name)
	past.until(t, "the release of the pods of "+name, func() bool {
		for i := range stored {
			if !past.Has(&stored[i]) {
				return false
			}
		}
		live := map[string]bool{}
		for _, v := range past.of(namespace, name) {
			if v.Pod != nil {
				live[v.Pod.Name] = !v.Gone && (!history.HasEnded(v.Pod) || history.IsTracked(v.Pod))
			}
		}
		for _, busy := range live {
			if busy {
				return false
			}
		}
		return true
	})
	for _, pod := range stored {
		if history.IsTracked(&pod) || !history.HasEnded(&pod) && pod.DeletionTimestamp == nil {
			t.Errorf("%s: pod %s is left, %s, with finalizers %v", name, pod.Name, pod.Status.Phase, pod.Finalizers)
		}
	}
}

func conditionsOf(job *batchv1.Job) (list []string) {
	for _, c := range job.Status.Conditions {
		list = append(list, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return list
}

// attemptMark matches the placeholder of a pod: its index, or x without one, and its attempt.
var attemptMark = regexp.MustCompile(`\{(\d+|x)\.(\d+)\}`)

func withPodNames(t *testing.T, pods []*corev1.Pod, message string) string {
	t.Helper()
	return attemptMark.ReplaceAllStringFunc(message, func(mark string) string {
		for _, pod := range pods {
			index := "x"
			if i := history.IndexOf(pod); i >= 0 {
				index = fmt.Sprint(i)
			}
			if mark == "{"+index+"."+pod.Annotations["batchjob.dev/attempt"]+"}" {
				return pod.Namespace + "/" + pod.Name
			}
		}
		t.Errorf("there is no pod %s", mark)
		return mark
	})
}

func quoted(s *string) string {
	if s == nil {
		return "nil"
	}
	return fmt.Sprintf("%q", *s)
}

func text(n *int32) string {
	if n == nil {
		return "nil"
	}
	return fmt.Sprint(*n)
}

// counts are counts of a status, including pods that are recorded but not counted yet.
type counts struct{ active, failed, terminating int32 }

func countsOf(job *batchv1.Job) counts {
	s := job.Status
	c := counts{s.Active, s.Failed, ptr.Deref(s.Terminating, -1)}
	if u := s.UncountedTerminatedPods; u != nil {
		c.failed += int32(len(u.Failed))
	}
	return c
}

// untilCounts waits for a status with these counts.
func untilCounts(t *testing.T, namespace, name string, want counts) *batchv1.Job {
	t.Helper()
	return untilJob(t, namespace, name, fmt.Sprintf("%+v", want), func(job *batchv1.Job) bool { return countsOf(job) == want })
}

// wantInOrder checks that a Job had these counts in this order, possibly with others in between.
func wantInOrder(t *testing.T, namespace, name string, want ...counts) {
	t.Helper()
	var seen []counts
	for _, job := range past.job(namespace, name) {
		if c := countsOf(job); len(seen) == 0 || seen[len(seen)-1] != c {
			seen = append(seen, c)
		}
	}
	left := want
	for _, c := range seen {
		if len(left) > 0 && c == left[0] {
			left = left[1:]
		}
	}
	if len(left) > 0 {
		t.Errorf("%s: {active failed terminating} were %v, want %v in this order", name, seen, want)
	}
}
