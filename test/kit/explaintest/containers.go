package explaintest

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// EndedWith returns the status of a container that ended d ago.
func EndedWith(name string, code int32, d time.Duration) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: "Completed", StartedAt: Ago(d + time.Minute), FinishedAt: Ago(d),
	}}}
}

// WaitsFor returns the status of a container that waits.
func WaitsFor(name, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
}

// Restarted adds restarts and the last failure, d ago, to the status of a container.
func Restarted(s corev1.ContainerStatus, times, code int32, d time.Duration) corev1.ContainerStatus {
	s.RestartCount, s.LastTerminationState = times, EndedWith(s.Name, code, d).State
	s.LastTerminationState.Terminated.Reason = "Error"
	return s
}

// Containers gives the pod these containers, with their statuses. An init container whose name begins with "sidecar-" is a sidecar.
func Containers(phase corev1.PodPhase, inits, mains []corev1.ContainerStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase, p.Status.InitContainerStatuses, p.Status.ContainerStatuses = phase, inits, mains
		p.Spec.InitContainers, p.Spec.Containers = specOf(inits), specOf(mains)
	}
}

func specOf(all []corev1.ContainerStatus) (out []corev1.Container) {
	for i := range all {
		c := corev1.Container{Name: all[i].Name, Image: "image:1"}
		if strings.HasPrefix(c.Name, "sidecar-") {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
		out = append(out, c)
	}
	return out
}

// JobOfPod returns a Job of one pod, whose template has the containers that change gives to its pod, except those named in without.
func JobOfPod(change func(*corev1.Pod), without ...string) *batchv1.Job {
	pod := &corev1.Pod{}
	change(pod)
	return JobWith(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism, j.Status.Active, j.Status.Ready = ptr.To[int32](1), ptr.To[int32](1), 1, ptr.To[int32](0)
		t := &j.Spec.Template.Spec
		t.InitContainers, t.Containers = pod.Spec.InitContainers, nil
		for _, c := range pod.Spec.Containers {
			if !strings.Contains(strings.Join(without, " "), c.Name) {
				t.Containers = append(t.Containers, c)
			}
		}
	})
}

// CrashLoop returns a Job with restartPolicy OnFailure and a pod whose only container has this status, after it ran for 30s and
// exited with code 1.
func CrashLoop(state corev1.ContainerState) input.Input {
	last := &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", StartedAt: Ago(90 * time.Second), FinishedAt: Ago(time.Minute)}
	if state.Terminated != nil {
		state.Terminated = last
	}
	pod := Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{{
		Name: "main", RestartCount: 3, State: state, LastTerminationState: corev1.ContainerState{Terminated: last},
	}})
	job := JobOfPod(pod)
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	return InputOf(job, PodOf("a", pod))
}

// BacksOff is the state of a container between two runs.
var BacksOff = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 40s restarting failed container"}}

// AddEnd adds a container or a sidecar that exited with this code a minute ago.
func AddEnd(p *corev1.Pod, name string, code int32, message string, sidecar bool) {
	status := corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message, StartedAt: Ago(2 * time.Minute), FinishedAt: Ago(time.Minute)},
	}}
	if sidecar {
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: name, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)})
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, status)
		return
	}
	p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, status)
}
