package analysis_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// Requirements: FCT-01, FCT-09
func TestFailuresBeforeASuccessAreNamed(t *testing.T) {
	job := completeJob(func(j *batchv1.Job) {
		j.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "setup"}, {Name: "logs", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
	})
	restarted := func(name string, code int32, reason string) *input.Pod {
		return succeeded("train-x", "Completed", func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
				Name: name, RestartCount: 2,
				State:                corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: ago(time.Minute)}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: ago(2 * time.Minute)}},
			}}
		})
	}
	wantFirst(t, factsOf(job, restarted("logs", 137, cause.OOMKilled)), "sidecar logs exited with code 137 for lack of memory (OOMKilled), and was restarted 2 times: what it was doing may be incomplete")
	for _, tc := range []struct {
		name, want string
	}{
		{"logs", "sidecar logs failed with exit code 3, restarted 2 times in pod train-x"},
		{"setup", "init container setup failed with exit code 3, restarted 2 times in pod train-x"},
	} {
		r := report(factsOf(job, restarted(tc.name, 3, "Error")))
		if p := problem(t, r, explain.ProblemContainerRetried); p.Text != tc.want || p.Blocks {
			t.Errorf("%+v, want %s", p, tc.want)
		}
	}
	if r := report(factsOf(job, restarted("setup", 0, "Completed"))); len(r.Problems) > 0 {
		t.Errorf("%+v", r.Problems)
	}
}

// The kubelet takes an init container that lost a process for a failure, and its exit code 0 for a success.
// Requirements: FCT-09
func TestInitContainerThatLostAProcessHoldsUpItsPod(t *testing.T) {
	pod := func(next corev1.ContainerState, ended time.Duration) *input.Pod {
		return podOf("train-x", func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodPending
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
				Name: "fetch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: cause.OOMKilled, FinishedAt: ago(ended)}},
			}, {Name: "unpack", State: next}}
		})
	}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
	job := func(policy corev1.RestartPolicy) *batchv1.Job {
		return jobWith(func(j *batchv1.Job) {
			j.Spec.Completions, j.Spec.Parallelism, j.Status.Active = ptr.To[int32](1), ptr.To[int32](1), 1
			j.Spec.Template.Spec.RestartPolicy, j.Spec.Template.Spec.InitContainers = policy, []corev1.Container{{Name: "fetch"}, {Name: "unpack"}}
		})
	}
	r := report(factsOf(job(corev1.RestartPolicyNever), pod(waiting, time.Minute)))
	wantSentence(t, r, "The Job is stalled: init container fetch exited with code 0, but the kernel killed a process in it for lack of memory (OOMKilled); "+
		"so the kubelet does not start container main, and the Job waits forever.")
	wantText(t, r, "kubectl delete pod train-x -n ns")
	for name, f := range map[string]input.Input{
		"it is restarted":        factsOf(job(corev1.RestartPolicyOnFailure), pod(waiting, time.Minute)),
		"it has just ended":      factsOf(job(corev1.RestartPolicyNever), pod(waiting, time.Second)),
		"the next one has begun": factsOf(job(corev1.RestartPolicyNever), pod(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Second)}}, time.Minute)),
	} {
		if r := report(f); len(r.Problems) > 0 && r.Problems[0].Kind == explain.ProblemProcessOOMKilled {
			t.Errorf("%s: %+v", name, r.Problems)
		}
	}
}

// Requirements: CLI-14
func TestProbeExplainsRestartsThatUseUpTheBackoffLimit(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		j.Spec.BackoffLimit, j.Status.Failed = ptr.To[int32](2), 1
		ended(j, batchv1.JobReasonBackoffLimitExceeded, "")
	}))
	f.PodsRead, f.EventsRead = true, true
	f.Events = []input.Event{
		about("a", "Warning", "kubelet", "Unhealthy", "Liveness probe failed: "+refused),
		about("a", "Normal", "kubelet", "Killing", "Container main failed liveness probe, will be restarted"),
	}
	r := wantFirst(t, f, "and backoffLimit 2 allows no more; container main was killed because its liveness probe failed: “"+refused)
	wantText(t, r, "find out why container main did not answer its liveness probe")
}

// Requirements: FCT-10
func TestEventsOfAnEarlierPodOfTheNameDoNotCount(t *testing.T) {
	f := failedOnce(podOf("a", exits(137, "Error", 12*time.Minute)))
	for _, e := range probeEvents {
		e.PodUID = types.UID("uid-a")
		f.Events = append(f.Events, e)
	}
	wantFirst(t, f, "was killed because its liveness probe failed")
	for i := range f.Events {
		f.Events[i].PodUID = "of-another"
	}
	wantWithout(t, report(f), "was killed because")
}
