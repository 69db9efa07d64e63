package podproblems_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Requirements: FCT-01, FCT-09
func TestFailuresBeforeASuccessAreNamed(t *testing.T) {
	job := explaintest.CompleteJob(func(j *batchv1.Job) {
		j.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "setup"}, {Name: "logs", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
	})
	restarted := func(name string, code int32, reason string) *input.Pod {
		return succeeded("train-x", "Completed", func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
				Name: name, RestartCount: 2,
				State:                corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: explaintest.Ago(time.Minute)}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: explaintest.Ago(2 * time.Minute)}},
			}}
		})
	}
	explaintest.WantFirst(t, explaintest.InputOf(job, restarted("logs", 137, cause.OOMKilled)), "sidecar logs exited with code 137 for lack of memory (OOMKilled), and was restarted 2 times: what it was doing may be incomplete")
	for _, tc := range []struct {
		name, want string
	}{
		{"logs", "sidecar logs failed with exit code 3, restarted 2 times in pod train-x"},
		{"setup", "init container setup failed with exit code 3, restarted 2 times in pod train-x"},
	} {
		r := explaintest.Report(explaintest.InputOf(job, restarted(tc.name, 3, "Error")))
		if p := explaintest.Problem(t, r, explain.ProblemContainerRetried); p.Text != tc.want || p.Blocks {
			t.Errorf("%+v, want %s", p, tc.want)
		}
	}
	if r := explaintest.Report(explaintest.InputOf(job, restarted("setup", 0, "Completed"))); len(r.Problems) > 0 {
		t.Errorf("%+v", r.Problems)
	}
}

// The kubelet takes an init container that lost a process for a failure, and its exit code 0 for a success.
// Requirements: FCT-09
func TestInitContainerThatLostAProcessHoldsUpItsPod(t *testing.T) {
	pod := func(next corev1.ContainerState, ended time.Duration) *input.Pod {
		return explaintest.PodOf("train-x", func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodPending
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
				Name: "fetch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: cause.OOMKilled, FinishedAt: explaintest.Ago(ended)}},
			}, {Name: "unpack", State: next}}
		})
	}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
	job := func(policy corev1.RestartPolicy) *batchv1.Job {
		return explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.Completions, j.Spec.Parallelism, j.Status.Active = ptr.To[int32](1), ptr.To[int32](1), 1
			j.Spec.Template.Spec.RestartPolicy, j.Spec.Template.Spec.InitContainers = policy, []corev1.Container{{Name: "fetch"}, {Name: "unpack"}}
		})
	}
	r := explaintest.Report(explaintest.InputOf(job(corev1.RestartPolicyNever), pod(waiting, time.Minute)))
	explaintest.WantVerdict(t, r, "The Job is stalled: init container fetch exited with code 0, but the kernel killed a process in it for lack of memory (OOMKilled); "+
		"so the kubelet does not start container main, and the Job waits forever.")
	explaintest.WantText(t, r, "kubectl delete pod train-x -n ns")
	for name, f := range map[string]input.Input{
		"it is restarted":        explaintest.InputOf(job(corev1.RestartPolicyOnFailure), pod(waiting, time.Minute)),
		"it has just ended":      explaintest.InputOf(job(corev1.RestartPolicyNever), pod(waiting, time.Second)),
		"the next one has begun": explaintest.InputOf(job(corev1.RestartPolicyNever), pod(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: explaintest.Ago(time.Second)}}, time.Minute)),
	} {
		if r := explaintest.Report(f); len(r.Problems) > 0 && r.Problems[0].Kind == explain.ProblemProcessOOMKilled {
			t.Errorf("%s: %+v", name, r.Problems)
		}
	}
}

// succeeded returns a pod whose main container exited with 0 for this reason.
func succeeded(name, reason string, change func(*corev1.Pod)) *input.Pod {
	return explaintest.PodOf(name, func(p *corev1.Pod) {
		explaintest.Exits(0, reason, time.Minute)(p)
		p.Spec.Containers[0].Resources = explaintest.Memory("512Mi")
		if change != nil {
			change(p)
		}
	})
}

// Requirements: FCT-01
func TestProcessThatIsOOMKilledMakesSuccessDoubtful(t *testing.T) {
	r := explaintest.Report(explaintest.InputOf(explaintest.CompleteJob(nil), succeeded("train-x", cause.OOMKilled, nil)))
	explaintest.WantVerdict(t, r, "The Job is complete: 1 of 1 pod succeeded in 59m; container main exited with code 0, but the kernel killed a process in it for lack of memory (OOMKilled, memory limit 512Mi): its result may be incomplete.")
	p := explaintest.Problem(t, r, explain.ProblemProcessOOMKilled)
	if p.Blocks || p.Count != 1 || r.Verdict.Problem == nil || len(r.Causes) != 0 || r.Counts.Failed != 0 {
		t.Errorf("%+v", r)
	}
	for _, advice := range []string{"raise the memory limit of container main, which is 512Mi", "exit with another code than 0", "kubectl logs train-x"} {
		if !explaintest.HasAdvice(r, advice) {
			t.Errorf("no advice %q in %+v", advice, r.Advice)
		}
	}
}

// Requirements: FCT-01
func TestSidecarThatIsOOMKilledIsNamed(t *testing.T) {
	r := explaintest.Report(explaintest.InputOf(explaintest.CompleteJob(nil), succeeded("train-x", "Completed", func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "logs", Image: "shipper:1", Resources: explaintest.Memory("32Mi")}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "logs", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: cause.OOMKilled, StartedAt: explaintest.Ago(3 * time.Minute), FinishedAt: explaintest.Ago(2 * time.Minute)},
		}}}
	})))
	assert.Contains(t, explaintest.Verdict(r), "sidecar logs exited with code 137 for lack of memory (OOMKilled, memory limit 32Mi")
}

// A sidecar that the kubelet stops at the end of the pod is no problem, nor is a pod without one.
// Requirements: FCT-01
func TestUsualSuccessHasNoReservation(t *testing.T) {
	stopped := succeeded("train-x", "Completed", func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "logs", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "Error", StartedAt: explaintest.Ago(3 * time.Minute), FinishedAt: explaintest.Ago(time.Minute)},
		}}}
	})
	assert.Equal(t, len(explaintest.Report(explaintest.InputOf(explaintest.CompleteJob(nil), stopped)).Problems), 0)
}
