package main

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// In played namespaces, the recorder acts as the scheduler and as the kubelet.

// worker returns the node of the pods that the recorder runs. The node does not exist, as kwok would run its pods
// otherwise. The cluster deletes pods on nodes that do not exist, but only after 40 s.
func (s *stage) worker() string { return "worker-" + s.ns }

// bind assigns the pod to a node, as the scheduler does.
func (s *stage) bind(pod *corev1.Pod, node string) error {
	err := s.client.CoreV1().Pods(pod.Namespace).Bind(s.ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	pod.Spec.NodeName = node
	return s.tell(pod, corev1.EventTypeNormal, "Scheduled", fmt.Sprintf("Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, node), "default-scheduler", 1)
}

// report writes the pod's status, as the kubelet does.
func (s *stage) report(pod *corev1.Pod, change func(*corev1.PodStatus)) error {
	now, err := s.client.CoreV1().Pods(pod.Namespace).Get(s.ctx, pod.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if now.Status.StartTime == nil && now.Spec.NodeName != "" {
		start := metav1.Now()
		now.Status.StartTime = &start
	}
	change(&now.Status)
	_, err = s.client.CoreV1().Pods(pod.Namespace).UpdateStatus(s.ctx, now, metav1.UpdateOptions{FieldManager: "kubelet"})
	return err
}

// tell creates an event about the pod, with a count.
func (s *stage) tell(pod *corev1.Pod, kind, reason, message, component string, times int32) error {
	now := metav1.Now()
	source := corev1.EventSource{Component: component}
	if component == "kubelet" {
		source.Host = pod.Spec.NodeName
	}
	_, err := s.client.CoreV1().Events(pod.Namespace).Create(s.ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: pod.Name + "."},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion},
		Type:           kind, Reason: reason, Message: message, Source: source,
		ReportingController: component, ReportingInstance: source.Host,
		FirstTimestamp: now, LastTimestamp: now, Count: times,
	}, metav1.CreateOptions{})
	return err
}

// said is an event of the kubelet.
type said struct {
	kind, reason, message string
	times                 int32
}

// tellAll creates the kubelet's events, one after the other.
func (s *stage) tellAll(pod *corev1.Pod, list ...said) error {
	for _, e := range list {
		if err := s.tell(pod, e.kind, e.reason, e.message, "kubelet", e.times); err != nil {
			return err
		}
	}
	return nil
}

// started returns the events of a container that starts.
func started(image string) []said {
	return []said{
		{corev1.EventTypeNormal, "Pulled", fmt.Sprintf("Container image %q already present on machine", image), 1},
		{corev1.EventTypeNormal, "Created", "Container created", 1},
		{corev1.EventTypeNormal, "Started", "Container started", 1},
	}
}

// place waits for the only pod, assigns it to the recorder's node, and returns it.
func (s *stage) place() (*corev1.Pod, error) {
	if err := s.until("a pod", havePods(1, every)); err != nil {
		return nil, err
	}
	pod := &s.seen.pods[0]
	return pod, s.bind(pod, s.worker())
}

// podConditions returns the pod conditions that the kubelet writes: those in holding are true; reason and message
// explain why the pod is not ready.
func podConditions(reason, message string, holding ...corev1.PodConditionType) []corev1.PodCondition {
	now := metav1.Now()
	var list []corev1.PodCondition
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		c := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, LastTransitionTime: now}
		switch {
		case slices.Contains(holding, kind):
			c.Status = corev1.ConditionTrue
		case kind == corev1.PodReady || kind == corev1.ContainersReady:
			c.Reason, c.Message = reason, message
		}
		list = append(list, c)
	}
	return list
}

const notReady = "ContainersNotReady"

func unready(container string) string {
	return fmt.Sprintf("containers with unready status: [%s]", container)
}

// ranUntil returns the status of a container that has just ended.
func ranUntil(name, image string, code int32, reason, message string) corev1.ContainerStatus {
	now := metav1.Now()
	return corev1.ContainerStatus{Name: name, Image: image, ImageID: imageID(image), ContainerID: containerID(name), State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, ContainerID: containerID(name),
		StartedAt: metav1.NewTime(now.Add(-2 * time.Second)), FinishedAt: now,
	}}}
}

// waits returns the status of the container main that has not started, with the reason.
func waits(image, reason, message string) corev1.ContainerStatus {
	no := false
	return corev1.ContainerStatus{Name: "main", Image: image, Started: &no, State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
	}}
}

func imageID(image string) string {
	return image + "@sha256:" + fmt.Sprintf("%064x", len(image))
}

func containerID(name string) string { return "containerd://" + fmt.Sprintf("%064x", len(name)) }

// patchPod changes a pod in the name of another field manager.
func (s *stage) patchPod(name, manager, patch string) error {
	_, err := s.client.CoreV1().Pods(s.ns).Patch(s.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager})
	return err
}
