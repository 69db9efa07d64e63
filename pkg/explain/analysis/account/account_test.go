package account_test

import (
	"fmt"
	"reflect"
	"strings"
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
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
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

// Report.Causes: the most frequent first, whatever the source.
// Requirements: CLI-04
func TestCausesFromPodsAndEvents(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 14 }),
		explaintest.PodOf("a", explaintest.Exits(1, "Error", time.Minute)), explaintest.PodOf("b", explaintest.Exits(1, "Error", time.Minute)), explaintest.PodOf("c", explaintest.Exits(2, "Error", time.Minute)))
	f.Events = []input.Event{
		explaintest.FailedEvent(explaintest.Exited(2), "c", 4, time.Minute),
		explaintest.FailedEvent(explaintest.Exited(3), "long-gone", 7, time.Minute),
	}
	r := explaintest.Report(f)
	var got []string
	for _, c := range r.Causes {
		got = append(got, c.Text+" "+string(c.Source))
	}
	want := "Container main exited with code 3 Events, Container main exited with code 2 Pods, Container main exited with code 1 Pods"
	assert.Equal(t, strings.Join(got, ", "), want)
	assert.Equal(t, r.FailuresWithoutPod, 1, "failures that nothing tells: 14-7-4-2")
	assert.Contains(t, explaintest.Verdict(r), "mostly (7 of the 13 with a known cause)")
	for _, c := range r.Causes {
		if c.Source == explain.SourceEvents && (len(c.Pods) != 1 || c.Pods[0] != "long-gone") {
			t.Errorf("%+v", c)
		}
	}
}

// The event counts all pods of a cause, from before and after the outcome of the Job was decided.
// Requirements: CLI-04
func TestEventCountsConsequencesOnce(t *testing.T) {
	deleted := func(d time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			explaintest.Exits(143, "Error", d)(p)
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(explaintest.Ago(d-10*time.Second)), ptr.To[int64](30)
		}
	}
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Status.Failed = 2
		explaintest.FailJob(j, "BackoffLimitExceeded", "")
	}), explaintest.PodOf("early", deleted(20*time.Minute)), explaintest.PodOf("late", deleted(9*time.Minute)))
	f.Events = []input.Event{explaintest.FailedEvent(explaintest.Killed(143), "early", 2, 9*time.Minute)}
	var sum int32
	r := explaintest.Report(f)
	for _, c := range r.Causes {
		sum += c.Count
	}
	if sum != 2 || len(r.Causes) != 2 || r.Causes[0].Consequence || !r.Causes[1].Consequence {
		t.Errorf("two failures are %d: %+v", sum, r.Causes)
	}
}

// The event of a release that wrote no record is shown verbatim, and counts.
// Requirements: CLI-04
func TestEventOfAnOlderReleaseIsShownVerbatim(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 5 }), explaintest.PodOf("a", explaintest.Exits(1, "Error", time.Minute)))
	const message = "Container main exited with code 3; no rule of the podFailurePolicy matched. First in pod b"
	f.Events = []input.Event{explaintest.JobEvent("PodFailed", message, 9, time.Minute)}
	r := explaintest.Report(f)
	if len(r.Causes) != 2 || r.FailuresWithoutPod != 0 {
		t.Fatalf("%d without a pod, %+v", r.FailuresWithoutPod, r.Causes)
	}
	if c := r.Causes[0]; c.Text != message || c.Failure != nil || c.ExitCode != nil || c.Count != 4 || c.Source != explain.SourceEvents {
		t.Errorf("%+v", c)
	}
}

// A cause may begin with any character.
// Requirements: CLI-04
func TestCauseInAnyScript(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 1 }))
	f.Events = []input.Event{explaintest.JobEvent("PodFailed", "Ärger im Pod", 1, time.Minute)}
	assert.Contains(t, explaintest.Verdict(explaintest.Report(f)), ": ärger im Pod")
}

// CLI-04: pods deleted by another client are the cause of BackoffLimitExceeded if there are no other failures, even in the
// second of the decision.
func TestDeletedPodsAreTheCause(t *testing.T) {
	job := func(limit int32) *batchv1.Job {
		return explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.BackoffLimit, j.Status.Failed = &limit, 2
			explaintest.FailJob(j, "BackoffLimitExceeded", "")
		})
	}
	deleted := explaintest.FailedEvent(explaintest.DeletedPod, "x", 2, 0)
	deleted.First = explaintest.Noon.Add(-10 * time.Minute) // when the condition was set
	f := explaintest.InputOf(job(0))
	f.Events = []input.Event{deleted}
	r := explaintest.Report(f)
	if len(r.Causes) != 1 || r.Causes[0].Consequence {
		t.Errorf("%+v", r.Causes)
	}
	explaintest.WantText(t, r, "pod was deleted before it ended", "find out what deletes or evicts the Job's pods")

	f = explaintest.InputOf(job(0), explaintest.PodOf("a", explaintest.Exits(1, "Error", 11*time.Minute)))
	f.Events = []input.Event{deleted}
	if r = explaintest.Report(f); len(r.Causes) != 2 || !r.Causes[1].Consequence {
		t.Errorf("%+v", r.Causes)
	}
	explaintest.WantWithout(t, r, "find out what deletes or evicts")
}

// TRK-01: a pod that was counted as deleted, and later ended differently, is one failure.
// Requirements: CLI-04
func TestOneFailureIsNotTwo(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Status.Failed = 3
		explaintest.FailJob(j, "BackoffLimitExceeded", "")
	}), explaintest.PodOf("a", explaintest.Exits(4, "Error", 11*time.Minute)), explaintest.PodOf("b", explaintest.Exits(4, "Error", 11*time.Minute)))
	f.Events = []input.Event{explaintest.FailedEvent(explaintest.DeletedPod, "a", 2, 9*time.Minute)}
	sum := int32(0)
	r := explaintest.Report(f)
	for _, c := range r.Causes {
		sum += c.Count
	}
	assert.Equalf(t, sum+r.FailuresWithoutPod, 3, "3 failures are %d: %+v", sum, r.Causes)
}

// CLI-04: the same for a pod that still exists and was deleted in the second of the decision.
func TestPodDeletedInTheLastSecondIsTheCause(t *testing.T) {
	deleted := explaintest.PodOf("a", func(p *corev1.Pod) {
		explaintest.Exits(143, "Error", 9*time.Minute)(p)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(explaintest.Ago(10*time.Minute-30*time.Second)), ptr.To[int64](30)
	})
	for limit, consequence := range map[int32]bool{0: false, -1: true} {
		r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.BackoffLimit, j.Status.Failed = &limit, 1
			explaintest.FailJob(j, "BackoffLimitExceeded", "")
		}), deleted))
		if len(r.Causes) != 1 || r.Causes[0].Consequence != consequence {
			t.Errorf("backoffLimit %d: %+v", limit, r.Causes)
		}
	}
}
