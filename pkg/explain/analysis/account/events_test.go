package account_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

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
