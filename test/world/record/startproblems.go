package main

import (
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// startProblems returns scenarios of Jobs whose pods do not start, or do not run for long.
func startProblems() []scenario {
	return []scenario{
		{
			name: "unschedulable", builtin: true, played: true,
			what: "No node has room for the pod: PodScheduled is False, Unschedulable, with FailedScheduling events. The recorder played the scheduler.",
			play: playUnschedulable,
		}, {
			name: "image-pull", builtin: true, played: true,
			what: "There is no such image: index 0 waits in ImagePullBackOff, index 1 has just got ErrImagePull. Not a failure: the pods stay Pending. The recorder played scheduler and kubelet.",
			play: playImagePull,
		}, {
			name: "invalid-image-name", builtin: true, played: true,
			what: "The image's name is not legal: the pod waits with InvalidImageName. The recorder played scheduler and kubelet.",
			play: playInvalidImage,
		}, {
			name: "create-container-config-error", builtin: true, played: true,
			what: "A secret that the container's environment needs does not exist: the pod waits with CreateContainerConfigError. The recorder played scheduler and kubelet.",
			play: playMissingSecret,
		}, {
			name: "scheduling-gate", builtin: true,
			what: "The pod has the scheduling gate example.com/quota-approved, which nobody has removed: PodScheduled is False, SchedulingGated.",
			play: runs(of(withPod(func(p *corev1.PodSpec) {
				p.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota-approved"}}
			})), unstarted(1)),
		}, {
			name: "crash-loop", builtin: true,
			what: "restartPolicy is OnFailure, and the container has exited with 1 three times: its kubelet waits 20 s (CrashLoopBackOff) to restart it in the same pod.",
			play: runs(of(does("run-time", "1s", "exit-code", "1"), withPod(func(p *corev1.PodSpec) { p.RestartPolicy = corev1.RestartPolicyOnFailure })),
				all(one, havePods(1, func(p corev1.Pod) bool {
					return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].State.Waiting != nil && p.Status.ContainerStatuses[0].RestartCount == 2
				}), status(func(s batchv1.JobStatus) bool { return s.Active == 1 && value(s.Ready) == 0 }))),
		}, {
			name: "not-ready", builtin: true, played: true,
			what: "The pod runs, and its readiness probe fails: active 1, ready 0. Nothing is wrong with the Job. The recorder played scheduler and kubelet.",
			play: playNotReady,
		},
	}
}

// unstarted holds if the Job counts n pods as active and none as ready, and all are Pending.
func unstarted(n int) func(*view) bool {
	return all(one, havePods(n, func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodPending }),
		status(func(s batchv1.JobStatus) bool { return int(s.Active) == n && value(s.Ready) == 0 }), event("Job", "SuccessfulCreate"))
}

func playUnschedulable(s *stage) error {
	gpus := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}
	job := s.job(withPod(func(p *corev1.PodSpec) {
		p.Containers[0].Resources = corev1.ResourceRequirements{Requests: gpus, Limits: gpus}
	}))
	if err := s.run(job, "a pod", unstarted(1)); err != nil {
		return err
	}
	const message = "0/5 nodes are available: 5 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling."
	pod := &s.seen.pods[0]
	told := s.tell(pod, corev1.EventTypeWarning, "FailedScheduling", message, "default-scheduler", 4)
	set := s.report(pod, func(status *corev1.PodStatus) {
		status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message, LastTransitionTime: metav1.Now(),
		}}
	})
	return errors.Join(told, set, s.until("what was said", all(unstarted(1), event("Pod", "FailedScheduling"), havePods(1, func(p corev1.Pod) bool { return len(p.Status.Conditions) == 1 }))))
}

// stay binds a pod and reports why its container is waiting.
func (s *stage) stay(pod *corev1.Pod, container corev1.ContainerStatus, events ...said) error {
	if err := errors.Join(s.bind(pod, s.worker()), s.tellAll(pod, events...)); err != nil {
		return err
	}
	return s.report(pod, func(status *corev1.PodStatus) {
		status.Conditions = podConditions(notReady, unready(container.Name), corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodScheduled)
		status.ContainerStatuses = []corev1.ContainerStatus{container}
	})
}

// waiting holds if one pod has a container that is waiting for the reason.
func waiting(reason string) func(*view) bool {
	return havePods(1, func(p corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].State.Waiting.Reason == reason
	})
}

func playImagePull(s *stage) error {
	if err := s.run(s.job(indexed(2, 2)), "two pods", unstarted(2)); err != nil {
		return err
	}
	const (
		cause   = `failed to pull and unpack image "` + image + `": failed to resolve reference "` + image + `": ` + image + `: not found`
		backoff = `Back-off pulling image "` + image + `"`
	)
	pulls := func(times int32) []said {
		return []said{
			{corev1.EventTypeNormal, "Pulling", `Pulling image "` + image + `"`, times},
			{corev1.EventTypeWarning, "Failed", `Failed to pull image "` + image + `": ` + cause, times},
			{corev1.EventTypeWarning, "Failed", "Error: ErrImagePull", times},
		}
	}
	for i := range s.seen.pods {
		pod, err := &s.seen.pods[i], error(nil)
		if isIndex("0")(*pod) {
			err = s.stay(pod, waits(image, "ImagePullBackOff", backoff+": ErrImagePull: "+cause), append(pulls(3),
				said{corev1.EventTypeNormal, "BackOff", backoff, 5}, said{corev1.EventTypeWarning, "Failed", "Error: ImagePullBackOff", 5})...)
		} else {
			err = s.stay(pod, waits(image, "ErrImagePull", cause), pulls(1)...)
		}
		if err != nil {
			return err
		}
	}
	return s.until("what was said", all(unstarted(2), waiting("ImagePullBackOff"), waiting("ErrImagePull")))
}

func playInvalidImage(s *stage) error {
	const (
		name    = "registry.example/Train:1.4"
		message = `Failed to apply default image tag "` + name + `": couldn't parse image name "` + name + `": invalid reference format: repository name (Train) must be lowercase`
	)
	if err := s.run(s.job(withPod(func(p *corev1.PodSpec) { p.Containers[0].Image = name })), "a pod", unstarted(1)); err != nil {
		return err
	}
	err := s.stay(&s.seen.pods[0], waits(name, "InvalidImageName", message),
		said{corev1.EventTypeWarning, "InspectFailed", message, 6}, said{corev1.EventTypeWarning, "Failed", "Error: InvalidImageName", 6})
	return errors.Join(err, s.until("what was said", all(unstarted(1), waiting("InvalidImageName"))))
}

func playMissingSecret(s *stage) error {
	password := corev1.EnvVar{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "db-password"}, Key: "password",
	}}}
	job := s.job(withPod(func(p *corev1.PodSpec) { p.Containers[0].Env = []corev1.EnvVar{password} }))
	if err := s.run(job, "a pod", unstarted(1)); err != nil {
		return err
	}
	const message = `secret "db-password" not found`
	err := s.stay(&s.seen.pods[0], waits(image, "CreateContainerConfigError", message),
		started(image)[0], said{corev1.EventTypeWarning, "Failed", "Error: " + message, 8})
	return errors.Join(err, s.until("what was said", all(unstarted(1), waiting("CreateContainerConfigError"))))
}

func playNotReady(s *stage) error {
	if err := s.run(s.job(), "a pod", unstarted(1)); err != nil {
		return err
	}
	pod := &s.seen.pods[0]
	unhealthy := said{corev1.EventTypeWarning, "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", 12}
	err := errors.Join(s.bind(pod, s.worker()), s.tellAll(pod, append(started(image), unhealthy)...),
		s.report(pod, unreadyStatus))
	return errors.Join(err, s.until("what was said", all(active1Ready0, havePods(1, running), event("Pod", "Unhealthy"))))
}

var active1Ready0 = status(func(s batchv1.JobStatus) bool { return s.Active == 1 && value(s.Ready) == 0 })

// unreadyStatus sets the status of a pod whose container main runs but is not ready.
func unreadyStatus(status *corev1.PodStatus) {
	yes := true
	status.Phase = corev1.PodRunning
	status.Conditions = podConditions(notReady, unready("main"), corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodScheduled)
	status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", Image: image, ImageID: imageID(image), ContainerID: containerID("main"), Started: &yes,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
}
