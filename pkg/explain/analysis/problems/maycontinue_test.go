package problems_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Requirements: RUN-15
func TestMayContinue(t *testing.T) {
	pending := func(change func(p *corev1.Pod)) input.Input {
		return explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Parallelism, j.Status.Active = ptr.To[int32](1), 1 }), explaintest.PodOf("a", func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodPending
			if change != nil {
				change(p)
			}
		}))
	}
	unschedulable := func(message string) input.Input {
		return pending(func(p *corev1.Pod) {
			p.Spec.NodeName = ""
			p.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message, LastTransitionTime: explaintest.Ago(0),
			}}
		})
	}
	waiting := func(reason string, policy corev1.RestartPolicy) input.Input {
		f := pending(func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "main", RestartCount: 3, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: explaintest.Ago(0)}},
			}}
			if reason == "CrashLoopBackOff" {
				p.Status.Phase = corev1.PodRunning
			}
		})
		f.Job.Spec.Template.Spec.RestartPolicy = policy
		return f
	}
	withEvent := func(f input.Input, e input.Event) input.Input {
		f.Events = append(f.Events, e)
		return f
	}
	refused := func(message string) input.Input {
		return withEvent(explaintest.InputOf(explaintest.JobWith(nil)), explaintest.JobEvent("FailedCreate", message, 1, 0))
	}
	slow := pending(nil)
	for name, c := range map[string]struct {
		input input.Input
		kind  explain.ProblemKind
		want  bool
	}{
		"gated": {pending(func(p *corev1.Pod) {
			p.Spec.NodeName, p.Spec.SchedulingGates = "", []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
		}), explain.ProblemSchedulingGated, true},
		"full nodes":         {unschedulable("0/3 nodes are available: 3 Insufficient cpu."), explain.ProblemUnschedulable, true},
		"full of pods":       {unschedulable("0/1 nodes are available: 1 Too many pods."), explain.ProblemUnschedulable, true},
		"no such node":       {unschedulable("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."), explain.ProblemUnschedulable, false},
		"quota":              {refused(`Error creating: pods "train-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`), explain.ProblemCreationRefused, true},
		"policy":             {refused(`Error creating: pods "train-x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), explain.ProblemCreationRefused, false},
		"counted restarts":   {waiting("CrashLoopBackOff", corev1.RestartPolicyOnFailure), explain.ProblemCrashLoop, true},
		"uncounted restarts": {waiting("CrashLoopBackOff", corev1.RestartPolicyNever), explain.ProblemCrashLoop, false},
		"image":              {waiting("ImagePullBackOff", corev1.RestartPolicyNever), explain.ProblemImagePull, false},
		"no controller": {explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.ManagedBy, j.Status = ptr.To("example.com/gone"), batchv1.JobStatus{}
		})), explain.ProblemNotReconciled, false},
		"slow start": {slow, explain.ProblemPodPending, true},
		"volume":     {withEvent(slow, explaintest.AboutPod("a", "Warning", "kubelet", "FailedMount", "no such volume")), explain.ProblemPodPending, false},
		"suspended":  {explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) })), explain.ProblemSuspended, true},
	} {
		assert.Equal(t, explaintest.Problem(t, explaintest.Report(c.input), c.kind).MayContinue, c.want, name)
	}
}
