package controller

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// An event about a condition has the condition's message; it is emitted only with the write that stored the condition
// (JOB-47, PFN-15).
func TestEventsAboutConditions(t *testing.T) {
	with := func(t batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: t, Status: status, Reason: reason, Message: message}}}}
	}
	completed := event{"Normal", "Completed", "Job completed"}
	complete := with(batchv1.JobComplete, corev1.ConditionTrue, "CompletionsReached", "m")
	for name, c := range map[string]struct {
		after *batchv1.Job
		found reconcile.Findings
		want  []event
	}{
		"failed": {after: with(batchv1.JobFailed, corev1.ConditionTrue, "PodFailurePolicy_x", "m"), want: []event{{"Warning", "PodFailurePolicy_x", "m"}}},
		"more than enough": {complete, reconcile.Findings{TooManySucceeded: &reconcile.TooManySucceeded{Succeeded: 3, Completions: 2}}, []event{
			completed,
			{"Warning", "TooManySucceededPods", "3 pods succeeded, but spec.completions is 2; the Job is complete anyway"},
		}},
		"complete":  {after: complete, want: []event{completed}},
		"suspended": {after: with(batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended"), want: []event{{"Normal", "Suspended", "Job suspended"}}},
		"resumed":   {after: with(batchv1.JobSuspended, corev1.ConditionFalse, "JobResumed", "Job resumed"), want: []event{{"Normal", "Resumed", "Job resumed"}}},
		"decided":   {after: with(batchv1.JobFailureTarget, corev1.ConditionTrue, "DeadlineExceeded", "m")},
	} {
		assert.SlicesEqual(t, storedEvents(&batchv1.Job{}, c.after, &c.found), c.want, name)
		if got := storedEvents(c.after, c.after, &c.found); len(got) > 0 {
			t.Errorf("%s: told though the condition is not new: %+v", name, got)
		}
		if got := findingEvents(&c.found); len(got) > 0 {
			t.Errorf("%s: told before it is stored: %+v", name, got)
		}
	}
}

// Lasting problems of a Job lead to a Warning (PFN-25, BLI-40).
func TestProblemsOfTheSpecAreWarnings(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{rulename.Annotation: "0=a;0=b"}}}
	job.Spec.CompletionMode, job.Spec.Completions, job.Spec.Parallelism = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](1), ptr.To[int32](1)
	job.Spec.BackoffLimitPerIndex = ptr.To[int32](1)
	job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{}}}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	plan := reconcile.Compute(reconcile.Observation{Job: job}, reconcile.DefaultConfig())
	want := []event{
		{"Warning", "InvalidPodFailurePolicyRuleNames", `annotation ` + rulename.Annotation + ` is ignored: entry "0=b": rule 0 already has an entry`},
		{
			"Warning", "BackoffLimitPerIndexOnFailure",
			"backoffLimitPerIndex counts failed pods; with restartPolicy OnFailure, containers restart in their pod, and their failures do not count",
		},
	}
	assert.SlicesEqual(t, findingEvents(&plan.Findings), want)
	unknown := findingEvents(&reconcile.Findings{UnknownMode: "Weird"})
	if len(unknown) != 1 || unknown[0].reason != "UnknownCompletionMode" || !strings.Contains(unknown[0].message, "Weird") {
		t.Errorf("%+v", unknown)
	}
}

// PFN-25: the event about invalid names lists a few violations and the number of the others.
func TestEventAboutManyNames(t *testing.T) {
	found := &reconcile.Findings{}
	for _, problem := range []string{"a", "b", "c", "d", "e"} {
		found.Violations = append(found.Violations, rulename.Violation{Rule: -1, Problem: problem})
	}
	assert.Equal(t, findingEvents(found)[0].message, "annotation "+rulename.Annotation+" is ignored: a; b; c; and 2 more")
}

// JOB-64, JOB-47: a Job that gets no pods because of its spec.scheduling gets one event about it.
func TestUnsupportedSchedulingGetsOneEvent(t *testing.T) {
	f, heard := newTalkingCluster(t)
	job := ourJob(1)
	job.Spec.Scheduling = &batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
		Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{},
	}}
	f.addJob(job)
	for range 2 {
		f.syncs()
	}
	heard.want(t, "a gang", "Warning SchedulingNotSupported: No pods are created: the Job requests workload-aware scheduling (spec.scheduling.schedulingPolicy.gang), which this controller does not support")
}

// heard is a recorder that keeps events as "kind reason: message".
type heard struct {
	mu    sync.Mutex
	texts []string
}

func (h *heard) Event(_ runtime.Object, kind, reason, message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.texts = append(h.texts, fmt.Sprintf("%s %s: %s", kind, reason, message))
}

func (h *heard) Eventf(about runtime.Object, kind, reason, format string, args ...any) {
	h.Event(about, kind, reason, fmt.Sprintf(format, args...))
}

func (h *heard) AnnotatedEventf(about runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	h.Eventf(about, kind, reason, format, args...)
}

func (h *heard) heard(reason string) bool {
	return slices.ContainsFunc(h.texts, func(text string) bool { return strings.Contains(text, " "+reason+": ") })
}

// want checks the events since the last call.
func (h *heard) want(t *testing.T, what string, texts ...string) {
	t.Helper()
	assert.SlicesEqual(t, h.texts, texts, what, strings.Join(h.texts, "\n"), strings.Join(texts, "\n"))
	h.texts = nil
}

// newTalkingCluster returns a fake cluster with a recorder.
func newTalkingCluster(t *testing.T) (*fakeCluster, *heard) {
	f, events := newFakeCluster(t, nil), &heard{}
	f.engine.config.Recorder = events
	return f, events
}
