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

// One event counts the causes without an event of their own.
// Requirements: CLI-04
func TestEventOfOtherCauses(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 5 }))
	e := explaintest.FailedEvent(explaintest.Exited(3), "b", 5, time.Minute)
	e.Failed.Others = true
	f.Events = []input.Event{e}
	if r := explaintest.Report(f); len(r.Causes) != 1 || r.Causes[0].Count != 5 || r.Causes[0].ExitCode != nil {
		t.Errorf("%+v", r.Causes)
	}
}

// A cause may begin with any character.
// Requirements: CLI-04
func TestCauseInAnyScript(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 1 }))
	f.Events = []input.Event{explaintest.JobEvent("PodFailed", "Ärger im Pod", 1, time.Minute)}
	assert.Contains(t, explaintest.Verdict(explaintest.Report(f)), "; ärger im Pod")
}
