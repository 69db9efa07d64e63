package analysis_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// lostPods returns a Job whose three pods are gone, and a rule with this action on disruptions.
func lostPods(action batchv1.PodFailurePolicyAction) input.Input {
	in := input.Input{Now: noon, PodsRead: true, EventsRead: true, Job: jobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		}}}
	})}
	for _, message := range []string{"Created pod: train-a", "Created 2 pods: train-b, train-c"} {
		e := jobEvent("SuccessfulCreate", message, 1, 0)
		e.Type = corev1.EventTypeNormal
		in.Events = append(in.Events, e)
	}
	return in
}

// Pods that a rule ignores leave no trace but the events about their creation.
// Requirements: CLI-15
func TestPodsThatARuleIgnoredAreLostAndNotCounted(t *testing.T) {
	f := lostPods(batchv1.PodFailurePolicyActionIgnore)
	r := wantFirst(t, f, "3 pods that the Job created are gone and count neither as failed nor as succeeded")
	wantText(t, r, "A rule with action Ignore may have matched them, and a back-off may delay new pods", "pods are created when the back-off ends, at most 10 minutes after the last failure")
	if p := problem(t, r, explain.ProblemPodsLost); p.Count != 3 || p.Blocks || r.Verdict.Stalled {
		t.Errorf("%+v", p)
	}
	if m := r.FailurePolicy; m.Rules[0].Matched != nil || m.Unmatched != nil {
		t.Errorf("it knows what matched pods that are gone: %+v", m)
	}

	f.Job.Status.Succeeded = 2
	wantFirst(t, f, "1 pod that the Job created is gone and counts neither")
	f.Job.Status.Succeeded = 0
	for name, change := range map[string]func(*input.Input){
		"no rule ignores":       func(f *input.Input) { *f = lostPods(batchv1.PodFailurePolicyActionCount) },
		"all are counted":       func(f *input.Input) { f.Job.Status.Failed = 3 },
		"all succeeded":         func(f *input.Input) { f.Job.Status.Succeeded = 3 },
		"events are incomplete": func(f *input.Input) { f.EventsRead = false },
		"the controller deleted them": func(f *input.Input) {
			f.Events = append(f.Events, jobEvent("SuccessfulDelete", "Deleted 3 pods: train-a, train-b, train-c", 1, 0))
		},
	} {
		f := lostPods(batchv1.PodFailurePolicyActionIgnore)
		change(&f)
		if r := report(f); hasProblem(r, explain.ProblemPodsLost) {
			t.Errorf("%s: %s", name, verdict(r))
		}
	}
}
