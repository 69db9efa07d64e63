package account_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// For any pods, events, conditions and status, the parts of an account add up to the counted failures, and none of them is
// negative.
// Requirements: CLI-04
func TestPartsOfTheAccountAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := facts.Of(randomInput(t))
		a := account.Of(in, failures.Find(in, explain.Options{}), explain.Options{})
		sum := int32(0)
		for name, n := range map[string]int32{
			"pods": a.FromPods, "events": a.FromEvents, "stopped": a.Stopped, "condition": a.FromCondition, "unexplained": a.Unexplained,
		} {
			if n < 0 {
				t.Errorf("%d failures from %s", n, name)
			}
			sum += n
		}
		if sum != a.Counted || a.Counted != max(in.CountedFailures(), 0) {
			t.Errorf("the parts are %d, counted are %d, the status has %d: %+v", sum, a.Counted, in.CountedFailures(), a)
		}
		if a.Seen() < a.CountedOwn() || a.CountedStopped < 0 || a.CountedOwn() < 0 {
			t.Errorf("%d failures, of which %d are counted and %d were stopped, with %d counted", a.Seen(), a.CountedOwn(), a.CountedStopped, a.Counted)
		}
		for _, c := range a.Causes {
			if c.Count <= 0 {
				t.Errorf("a cause of %d failures: %+v", c.Count, c)
			}
		}
	})
}

// Each failure is in the part of its best source: its pod, an event about its cause, an event about its deletion, or the
// condition.
// Requirements: CLI-04
func TestEachFailureIsInOnePart(t *testing.T) {
	t.Parallel()
	exited := func(code int32) *cause.Record {
		return &cause.Record{Cause: cause.Cause{Rule: -1, Failure: cause.Failure{Exit: cause.Exit{Container: "main", ExitCode: code}}}}
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train"}, Status: batchv1.JobStatus{Failed: 9}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "train-1", UID: "1"}, Status: corev1.PodStatus{Phase: corev1.PodFailed}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}}}
	given := input.Input{Now: explaintest.Noon, Job: job, PodsRead: true, Pods: []*input.Pod{input.PodOf(pod)}, Events: []input.Event{
		{Reason: "PodFailed", Count: 3, Failed: exited(1)}, // One of them is from the existing pod.
		{Reason: "PodFailed", Count: 2, Failed: exited(2)},
		{Reason: "SuccessfulDelete", Message: "Deleted pod: train-5"},
	}}
	checkParts(t, given, account.Accounting{Counted: 9, FromPods: 1, FromEvents: 4, Stopped: 1, CountedStopped: 1, Unexplained: 3})

	// An event may lag behind the pods.
	other := pod.DeepCopy()
	other.Name, other.UID = "train-2", "2"
	given.Pods = append(given.Pods, input.PodOf(other))
	given.Events = []input.Event{{Reason: "PodFailed", Count: 1, Failed: exited(1)}}
	checkParts(t, given, account.Accounting{Counted: 9, FromPods: 2, Unexplained: 7})

	job.Status.Conditions = []batchv1.JobCondition{{
		Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonPodFailurePolicy, LastTransitionTime: metav1.NewTime(explaintest.Noon),
		Message: "Container main for pod ns/train-x failed with exit code 1 matching FailJob rule at index 0",
	}}
	given.Pods, given.Events = nil, nil
	checkParts(t, given, account.Accounting{Counted: 9, FromCondition: 1, Unexplained: 8})
}

func checkParts(t *testing.T, given input.Input, want account.Accounting) {
	t.Helper()
	in := facts.Of(given)
	got := *account.Of(in, failures.Find(in, explain.Options{}), explain.Options{})
	if got.Causes = nil; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func randomInput(t *rapid.T) input.Input {
	n := func(what string, lo, hi int32) int32 { return rapid.Int32Range(lo, hi).Draw(t, what) }
	of := func(what string, all ...string) string { return rapid.SampledFrom(all).Draw(t, what) }
	minutes := func(what string) metav1.Time {
		return metav1.NewTime(explaintest.Noon.Add(-time.Duration(n(what, 0, 3)) * time.Minute))
	}

	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train", UID: "job", CreationTimestamp: metav1.NewTime(explaintest.Noon.Add(-time.Hour))}}
	job.Spec.Parallelism, job.Spec.BackoffLimit = ptr.To(n("parallelism", 0, 4)), ptr.To(n("limit", 0, 2))
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicy(of("restart policy", "Never", "OnFailure"))
	job.Status.Failed = n("failed", -1, 9)
	if reason := of("reason", "", "BackoffLimitExceeded", "DeadlineExceeded", "PodFailurePolicy"); reason != "" {
		job.Status.Conditions = []batchv1.JobCondition{{
			Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: minutes("ended"),
			Message: of("message", "", "Container main for pod ns/train-x failed with exit code 1 matching FailJob rule at index 0"),
		}}
	}
	given := input.Input{Now: explaintest.Noon, Job: job, PodsRead: n("read", 0, 9) > 0}
	for i := range n("pods", 0, 4) {
		if !given.PodsRead {
			break
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("train-", i), UID: types.UID(fmt.Sprint(i))}}
		pod.Status.Phase = corev1.PodPhase(of("phase", "Failed", "Running"))
		if n("deleted", 0, 1) == 1 {
			pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = ptr.To(minutes("deleted at")), ptr.To[int64](30)
		}
		if n("tracked", 0, 1) == 1 {
			pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: n("code", 1, 2), FinishedAt: minutes("finished")},
		}}}
		given.Pods = append(given.Pods, input.PodOf(pod))
	}
	for range n("events", 0, 4) {
		e := input.Event{
			Reason: of("event", "PodFailed", "SuccessfulDelete", "Killing"), Pod: of("about", "", "", "train-8"), Count: n("count", 0, 5), First: minutes("first").Time,
			Message: of("text", "Deleted pod: train-7", "Deleted 3 pods: train-5, …", "Stopping container main"),
		}
		if e.Reason == "PodFailed" && n("record", 0, 2) > 0 {
			e.Failed = &cause.Record{Cause: cause.Cause{Rule: -1, Failure: cause.Failure{Exit: cause.Exit{Container: "main", ExitCode: n("recorded", 1, 2)}}}}
			if n("ignored", 0, 3) == 0 {
				e.Failed.Judged, e.Failed.Rule, e.Failed.Action = true, 0, batchv1.PodFailurePolicyActionIgnore
			}
		}
		given.Events = append(given.Events, e)
	}
	return given
}
