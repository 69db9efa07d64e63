package main

import (
	"errors"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// playedEndings returns scenarios of Jobs that fail in ways that kwok's nodes cannot simulate.
func playedEndings() []scenario {
	return []scenario{
		{
			name: "three-causes", builtin: true, played: true,
			what: "All 60 indexes fail at their only attempt (backoffLimitPerIndex 0) for three causes: 30 exit with 1, 20 are OOMKilled (137), 10 exit with 42 and a message; Failed, FailedIndexes. The recorder played the kubelet.",
			play: playThreeCauses,
		}, {
			name: "two-containers", builtin: true, played: true,
			what: "The first container, main, exits with 0, the second, uploader, with 3 and a message: Failed, BackoffLimitExceeded. The recorder played scheduler and kubelet.",
			play: playTwoContainers,
		}, {
			name: "init-container", builtin: true, played: true,
			what: "The init container fetch exits with 3, so main never ran: Failed, BackoffLimitExceeded. The recorder played scheduler and kubelet.",
			play: playInitContainer,
		}, {
			name: "start-error", builtin: true, played: true,
			what: "The runtime cannot start the container, as its command does not exist (reason StartError, exit code 128, the runtime's message): Failed, BackoffLimitExceeded. The recorder played scheduler and kubelet.",
			play: playStartError,
		},
	}
}

func playThreeCauses(s *stage) error {
	const n = 60
	if err := s.run(s.job(indexed(n, n), perIndex(0)), "60 pods", havePods(n, every)); err != nil {
		return err
	}
	for i := range s.seen.pods {
		pod := &s.seen.pods[i]
		index, err := strconv.Atoi(pod.Labels[batchv1.JobCompletionIndexAnnotation])
		if err != nil {
			return err
		}
		ended := ranUntil("main", image, 1, "Error", "")
		switch {
		case index%6 == 5:
			ended = ranUntil("main", image, 42, "Error", fmt.Sprintf("shard %d: checksum mismatch", index))
		case index%3 == 1:
			ended = ranUntil("main", image, 137, "OOMKilled", "")
		}
		if err := s.end(pod, corev1.PodFailed, ended); err != nil {
			return err
		}
	}
	return s.until("the end", all(failed(batchv1.JobReasonFailedIndexes), countedFailures(n)))
}

const image = "registry.example/train:1.4"

// end binds the pod and ends it with these container statuses.
func (s *stage) end(pod *corev1.Pod, phase corev1.PodPhase, containers ...corev1.ContainerStatus) error {
	if err := s.bind(pod, s.worker()); err != nil {
		return err
	}
	return s.report(pod, func(status *corev1.PodStatus) {
		status.Phase = phase
		status.Conditions = podConditions("PodFailed", "", corev1.PodInitialized, corev1.PodScheduled)
		status.ContainerStatuses = containers
	})
}

func playTwoContainers(s *stage) error {
	uploader := corev1.Container{Name: "uploader", Image: "registry.example/upload:2"}
	job := s.job(backoffLimit(0), withPod(func(p *corev1.PodSpec) { p.Containers = append(p.Containers, uploader) }))
	if err := s.create(job); err != nil {
		return err
	}
	if err := s.until("a pod", havePods(1, every)); err != nil {
		return err
	}
	err := s.end(&s.seen.pods[0], corev1.PodFailed,
		ranUntil("main", image, 0, "Completed", ""),
		ranUntil("uploader", uploader.Image, 3, "Error", "PUT s3://results/part-0: 403 Forbidden\n"))
	return errors.Join(err, s.until("the end", failed(batchv1.JobReasonBackoffLimitExceeded)))
}

func playInitContainer(s *stage) error {
	fetch := corev1.Container{Name: "fetch", Image: "registry.example/fetch:2"}
	if err := s.create(s.job(backoffLimit(0), withPod(func(p *corev1.PodSpec) { p.InitContainers = []corev1.Container{fetch} }))); err != nil {
		return err
	}
	pod, err := s.place()
	if err != nil {
		return err
	}
	if err := s.tellAll(pod, started(fetch.Image)...); err != nil {
		return err
	}
	err = s.report(pod, func(status *corev1.PodStatus) {
		status.Phase = corev1.PodFailed
		status.Conditions = podConditions("PodFailed", "", corev1.PodScheduled)
		status.Conditions[1].Reason, status.Conditions[1].Message = "ContainersNotInitialized", "containers with incomplete status: [fetch]"
		status.InitContainerStatuses = []corev1.ContainerStatus{ranUntil("fetch", fetch.Image, 3, "Error", "no route to host: datasets.example\n")}
		status.ContainerStatuses = []corev1.ContainerStatus{waits(image, "PodInitializing", "")}
	})
	return errors.Join(err, s.until("the end", failed(batchv1.JobReasonBackoffLimitExceeded)))
}

func playStartError(s *stage) error {
	const message = `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "trian": executable file not found in $PATH`
	if err := s.create(s.job(backoffLimit(0))); err != nil {
		return err
	}
	pod, err := s.place()
	if err != nil {
		return err
	}
	if err := s.tellAll(pod, append(started(image)[:2], said{corev1.EventTypeWarning, "Failed", "Error: " + message, 1})...); err != nil {
		return err
	}
	err = s.report(pod, func(status *corev1.PodStatus) {
		status.Phase = corev1.PodFailed
		status.Conditions = podConditions("PodFailed", "", corev1.PodInitialized, corev1.PodScheduled)
		failed := ranUntil("main", image, 128, "StartError", message)
		// For a container that never started, a runtime reports the Unix epoch.
		failed.State.Terminated.StartedAt = metav1.Unix(0, 0)
		status.ContainerStatuses = []corev1.ContainerStatus{failed}
	})
	return errors.Join(err, s.until("the end", failed(batchv1.JobReasonBackoffLimitExceeded)))
}
