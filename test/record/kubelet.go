package main

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The recorder as scheduler and as kubelet of pods in played namespaces.

// worker is the node of the pods that the recorder runs. No node has that name: kwok would
// run its pods. The cluster takes pods away from nodes that do not exist, but not before 40 s.
func (s *stage) worker() string { return "worker-" + s.ns }

// bind gives the pod its node, as the scheduler does.
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

// tell writes an event about the pod that happened so many times.
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

// said is one event of the kubelet.
type said struct {
	kind, reason, message string
	times                 int32
}

// tellAll writes what the kubelet says, one after the other.
func (s *stage) tellAll(pod *corev1.Pod, list ...said) error {
	for _, e := range list {
		if err := s.tell(pod, e.kind, e.reason, e.message, "kubelet", e.times); err != nil {
			return err
		}
	}
	return nil
}

// started are the events of a container that starts.
func started(image string) []said {
	return []said{
		{corev1.EventTypeNormal, "Pulled", fmt.Sprintf("Container image %q already present on machine", image), 1},
		{corev1.EventTypeNormal, "Created", "Container created", 1},
		{corev1.EventTypeNormal, "Started", "Container started", 1},
	}
}

// place takes a pod that waits for the recorder and gives it its node.
func (s *stage) place() (*corev1.Pod, error) {
	if err := s.until("a pod", havePods(1, every)); err != nil {
		return nil, err
	}
	pod := &s.seen.pods[0]
	return pod, s.bind(pod, s.worker())
}

// podConditions are a pod's as the kubelet writes them: those of the list are true, and reason
// and message say why it is not ready.
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

// ranUntil is a container that ended now.
func ranUntil(name, image string, code int32, reason, message string) corev1.ContainerStatus {
	now := metav1.Now()
	return corev1.ContainerStatus{Name: name, Image: image, ImageID: imageID(image), ContainerID: containerID(name), State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, ContainerID: containerID(name),
		StartedAt: metav1.NewTime(now.Add(-2 * time.Second)), FinishedAt: now,
	}}}
}

// waits is the container main that has not started, and why.
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

// patchPod changes a pod as somebody else than the controller does.
func (s *stage) patchPod(name, manager, patch string) error {
	_, err := s.client.CoreV1().Pods(s.ns).Patch(s.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager})
	return err
}
