package jobproblems_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// lostPods returns a Job whose three pods are gone, and a rule with this action on disruptions.
func lostPods(action batchv1.PodFailurePolicyAction) input.Input {
	in := input.Input{Now: explaintest.Noon, PodsRead: true, EventsRead: true, Job: explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		j.Spec.PodFailurePolicy = explaintest.OnDisruption(action)
	})}
	for _, message := range []string{"Created pod: train-a", "Created 2 pods: train-b, train-c"} {
		e := explaintest.JobEvent("SuccessfulCreate", message, 1, 0)
		e.Type = corev1.EventTypeNormal
		in.Events = append(in.Events, e)
	}
	return in
}

// Pods that a rule ignores leave no trace but the events about their creation.
// Requirements: CLI-15
func TestPodsThatARuleIgnoredAreLostAndNotCounted(t *testing.T) {
	f := lostPods(batchv1.PodFailurePolicyActionIgnore)
	r := explaintest.WantFirst(t, f, "3 pods that the Job created were deleted or evicted, and count neither as failed nor as succeeded")
	explaintest.WantText(t, r, "A rule with action Ignore may have matched them, and a back-off may delay new pods", "pods are created when the back-off ends, at most 10 minutes after the last failure")
	if p := explaintest.Problem(t, r, explain.ProblemPodsLost); p.Count != 3 || p.Blocks || r.Verdict.Stalled {
		t.Errorf("%+v", p)
	}
	if m := r.FailurePolicy; m.Rules[0].Matched != nil || m.Unmatched != nil {
		t.Errorf("it knows what matched pods that are gone: %+v", m)
	}

	f.Job.Status.Succeeded = 2
	explaintest.WantFirst(t, f, "1 pod that the Job created was deleted or evicted, and counts neither")
	f.Job.Status.Succeeded = 0
	for name, change := range map[string]func(*input.Input){
		"no rule ignores":       func(f *input.Input) { *f = lostPods(batchv1.PodFailurePolicyActionCount) },
		"all are counted":       func(f *input.Input) { f.Job.Status.Failed = 3 },
		"all succeeded":         func(f *input.Input) { f.Job.Status.Succeeded = 3 },
		"events are incomplete": func(f *input.Input) { f.EventsRead = false },
		"the controller deleted them": func(f *input.Input) {
			f.Events = append(f.Events, explaintest.JobEvent("SuccessfulDelete", "Deleted 3 pods: train-a, train-b, train-c", 1, 0))
		},
	} {
		f := lostPods(batchv1.PodFailurePolicyActionIgnore)
		change(&f)
		if r := explaintest.Report(f); explaintest.HasProblem(r, explain.ProblemPodsLost) {
			t.Errorf("%s: %s", name, explaintest.Verdict(r))
		}
	}
}

// The back-off after lost pods has a known end if the kubelet has reported when it stopped each of them: three failures wait for 40 s.
// Requirements: CLI-15
func TestBackoffOfLostPodsEndsAfterTheyWereStopped(t *testing.T) {
	f := lostPods(batchv1.PodFailurePolicyActionIgnore)
	f.Job.CreationTimestamp = explaintest.Ago(10 * time.Minute)
	f.Job.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1)
	for _, pod := range []string{"train-a", "train-b", "train-c"} {
		f.Events = append(f.Events, input.Event{Pod: pod, Type: corev1.EventTypeNormal, Reason: "Killing", Message: "Stopping container main", First: explaintest.Noon.Add(-3 * time.Second), Last: explaintest.Noon.Add(-3 * time.Second)})
	}
	r := explaintest.Report(f)
	at := -1
	for i, s := range r.Next {
		if s.Kind == explain.StepUnknownBackoff {
			at = i
		}
	}
	if at < 0 || r.Next[at].At == nil || !r.Next[at].At.Time.Equal(explaintest.Noon.Add(38*time.Second)) || !strings.Contains(r.Next[at].Text, "the back-off has ended by then") {
		t.Errorf("%+v", r.Next)
	}
}
