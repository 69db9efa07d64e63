package play

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// report writes the status of a pod, after assigning it to a node.
func (p *Player) report(ctx context.Context, s Pod) error {
	pod, err := p.pod(ctx, s.Name)
	if err != nil {
		return err
	}
	if err := p.bind(ctx, pod, cmp.Or(p.expand(s.Node, ""), p.Node)); err != nil {
		return err
	}
	if pod, err = p.Client.CoreV1().Pods(p.Namespace).Get(ctx, pod.Name, metav1.GetOptions{}); err != nil {
		return err
	}
	for name := range s.Containers {
		if !hasContainer(pod, name) {
			return fmt.Errorf("pod %s has no container %s", pod.Name, name)
		}
	}
	s.Message, s.DisruptionMessage = p.expand(s.Message, pod.Name), p.expand(s.DisruptionMessage, pod.Name)
	for name, c := range s.Containers {
		c.Message = p.expand(c.Message, pod.Name)
		s.Containers[name] = c
	}
	pod.Status = s.status(pod.Spec, time.Now())
	_, err = p.Client.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{FieldManager: "kubelet"})
	return err
}

// bind assigns the pod to a node, as the scheduler does.
func (p *Player) bind(ctx context.Context, pod *corev1.Pod, node string) error {
	if pod.Spec.NodeName != "" {
		return nil
	}
	err := p.Client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return p.createEvent(ctx, reference(pod), Event{
		Type: corev1.EventTypeNormal, Reason: "Scheduled", From: "default-scheduler",
		Message: fmt.Sprintf("Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, node),
	})
}

// The waiting reasons of containers before the first container is started.
const (
	creating     = "ContainerCreating"
	initializing = "PodInitializing"
)

// status returns the status that the kubelet writes.
func (s Pod) status(spec corev1.PodSpec, now time.Time) corev1.PodStatus {
	ago := func(d metav1.Duration) metav1.Time { return metav1.NewTime(now.Add(-d.Duration).Truncate(time.Second)) }
	status := corev1.PodStatus{
		Phase: cmp.Or(corev1.PodPhase(s.Phase), corev1.PodRunning), Reason: s.Reason, Message: s.Message, StartTime: ptr.To(ago(s.Age)),
	}
	if s.Rejected {
		return status
	}
	waiting := creating
	if len(spec.InitContainers) > 0 {
		waiting = initializing
	}
	sidecars := map[string]bool{}
	for _, c := range spec.InitContainers {
		sidecars[c.Name] = ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
		status.InitContainerStatuses = append(status.InitContainerStatuses, s.Containers[c.Name].status(c, waiting, !sidecars[c.Name], ago))
	}
	for _, c := range spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, s.Containers[c.Name].status(c, waiting, false, ago))
	}
	status.Conditions = s.conditions(status, sidecars, ago)
	return status
}

// status returns the status of a container. An init container other than a sidecar is ready once it has succeeded.
func (c Container) status(spec corev1.Container, waiting string, isInit bool, ago func(metav1.Duration) metav1.Time) corev1.ContainerStatus {
	status := corev1.ContainerStatus{Name: spec.Name, Image: spec.Image, RestartCount: c.Restarts, Started: ptr.To(false)}
	switch {
	case c.Exit != nil:
		status.State.Terminated = c.terminated(ago)
		status.Ready = isInit && *c.Exit == 0
	case c.Running != nil:
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: ago(*c.Running)}
		status.Ready, status.Started = !c.Unready && !isInit, ptr.To(!c.Unready)
	default:
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: cmp.Or(c.Waiting, waiting), Message: c.Message}
	}
	if c.Last != nil {
		status.LastTerminationState.Terminated = c.Last.terminated(ago)
	}
	if c.Exit != nil || c.Running != nil || c.Last != nil {
		status.ContainerID = "containerd://" + strings.Repeat("a1", 32)
		status.ImageID = spec.Image + "@sha256:" + strings.Repeat("b2", 32)
	}
	return status
}

func (c Container) terminated(ago func(metav1.Duration) metav1.Time) *corev1.ContainerStateTerminated {
	reason := "Completed"
	if ptr.Deref(c.Exit, 0) != 0 {
		reason = "Error"
	}
	ended := &corev1.ContainerStateTerminated{
		ExitCode: ptr.Deref(c.Exit, 0), Reason: cmp.Or(c.Reason, reason), Message: c.Message, StartedAt: ago(c.Started), FinishedAt: ago(c.Ended),
		ContainerID: "containerd://" + strings.Repeat("a1", 32),
	}
	if ended.Reason == "StartError" {
		ended.StartedAt = metav1.Unix(0, 0) // as containerd reports it
	}
	return ended
}

// conditions returns the conditions of an admitted pod.
func (s Pod) conditions(status corev1.PodStatus, sidecars map[string]bool, ago func(metav1.Duration) metav1.Time) []corev1.PodCondition {
	condition := func(kind corev1.PodConditionType, holds bool, reason, message string) corev1.PodCondition {
		c := corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: ago(s.Age)}
		if !holds {
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, reason, message
		}
		return c
	}
	incomplete, unready := lacking(status, sidecars)
	reason, message := "ContainersNotReady", fmt.Sprintf("containers with unready status: %v", unready)
	switch status.Phase {
	case corev1.PodFailed:
		reason, message = "PodFailed", ""
	case corev1.PodSucceeded:
		reason, message, incomplete = "PodCompleted", "", nil
	}
	ended := status.Phase == corev1.PodFailed || status.Phase == corev1.PodSucceeded
	list := []corev1.PodCondition{
		condition(corev1.PodReadyToStartContainers, hasSandbox(status) && !ended, "", ""),
		condition(corev1.PodInitialized, len(incomplete) == 0, "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %v", incomplete)),
		condition(corev1.PodReady, len(unready) == 0, reason, message),
		condition(corev1.ContainersReady, len(unready) == 0, reason, message),
		condition(corev1.PodScheduled, true, "", ""),
	}
	if s.Disruption != "" {
		d := condition(corev1.DisruptionTarget, true, "", "")
		d.Reason, d.Message, d.LastTransitionTime = s.Disruption, cmp.Or(s.DisruptionMessage, s.Message), ago(metav1.Duration{})
		list = append(list, d)
	}
	return list
}

// lacking returns the containers that keep the pod from being initialized and from being ready.
func lacking(status corev1.PodStatus, sidecars map[string]bool) (incomplete, unready []string) {
	for _, c := range status.InitContainerStatuses {
		if done := c.Ready || sidecars[c.Name] && ptr.Deref(c.Started, false); !done {
			incomplete = append(incomplete, c.Name)
		}
		if sidecars[c.Name] && !c.Ready {
			unready = append(unready, c.Name)
		}
	}
	for _, c := range status.ContainerStatuses {
		if !c.Ready {
			unready = append(unready, c.Name)
		}
	}
	return incomplete, unready
}

// hasSandbox reports whether a container of the pod has been started, or waits for a later step than the sandbox.
func hasSandbox(status corev1.PodStatus) bool {
	return slices.ContainsFunc(slices.Concat(status.InitContainerStatuses, status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
		w := c.State.Waiting
		return c.ContainerID != "" || w != nil && w.Reason != creating && w.Reason != initializing
	})
}

// unschedulable writes the condition and event of the scheduler for a pod without a node.
func (p *Player) unschedulable(ctx context.Context, u Unschedulable) error {
	pod, err := p.pod(ctx, u.Pod)
	if err != nil {
		return err
	}
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: u.Message, LastTransitionTime: metav1.Now(),
	}}
	if _, err := p.Client.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{FieldManager: "kube-scheduler"}); err != nil {
		return err
	}
	return p.createEvent(ctx, reference(pod), Event{Reason: "FailedScheduling", From: "default-scheduler", Message: u.Message, Count: u.Count})
}

func (p *Player) event(ctx context.Context, e Event) error {
	if strings.HasPrefix(e.About, "pod/") {
		pod, err := p.pod(ctx, e.About)
		if err != nil {
			return err
		}
		e.Message = p.expand(e.Message, pod.Name)
		return p.createEvent(ctx, reference(pod), e)
	}
	object, err := p.Objects.get(ctx, p.Namespace, e.About)
	if err != nil {
		return err
	}
	e.Message = p.expand(e.Message, "")
	return p.createEvent(ctx, corev1.ObjectReference{
		APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: p.Namespace, Name: object.GetName(), UID: object.GetUID(),
	}, e)
}

func reference(pod *corev1.Pod) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion}
}

// createEvent creates an event with this Count.
func (p *Player) createEvent(ctx context.Context, about corev1.ObjectReference, e Event) error {
	if e.Container != "" {
		about.FieldPath = "spec.containers{" + e.Container + "}"
	}
	at, from := metav1.NewTime(time.Now().Add(-e.Age.Duration)), cmp.Or(e.From, "kubelet")
	source := corev1.EventSource{Component: from}
	if from == "kubelet" {
		source.Host = p.Node
	}
	_, err := p.Client.CoreV1().Events(p.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: about.Name + "."}, InvolvedObject: about,
		Type: cmp.Or(e.Type, corev1.EventTypeWarning), Reason: e.Reason, Message: e.Message, Source: source,
		ReportingController: from, ReportingInstance: source.Host, FirstTimestamp: at, LastTimestamp: at, Count: max(1, e.Count),
	}, metav1.CreateOptions{})
	if apierrors.IsInvalid(err) {
		return fmt.Errorf("event %s: %w", e.Reason, err)
	}
	return err
}
