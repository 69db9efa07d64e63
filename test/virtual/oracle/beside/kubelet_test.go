//go:build builtin

package beside

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// The cluster acts as the kubelet, whose clock says now. Calls for a pod that is gone have no effect, because a controller may have deleted it.

// startPod binds a pod, if it has no node, and makes its containers run. The pod has been ready since the given time.
func (c *cluster) startPod(ctx context.Context, pod *corev1.Pod, ready time.Time) error {
	if pod.Spec.NodeName == "" {
		err := c.pods(pod.Namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: sharedNode},
		}, metav1.CreateOptions{})
		if err != nil {
			return ignoreGone(err)
		}
	}
	now := metav1.NewTime(ready)
	status := map[string]any{
		"phase": corev1.PodRunning, "startTime": now, "conditions": conditions(now, corev1.ConditionTrue, ""),
		"containerStatuses": statuses(pod.Spec.Containers, func(corev1.Container) corev1.ContainerState {
			return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
		}, 0),
	}
	if init := pod.Spec.InitContainers; len(init) > 0 {
		status["initContainerStatuses"] = statuses(init, func(corev1.Container) corev1.ContainerState { return terminated(0, now) }, 0)
	}
	return c.patchStatus(ctx, pod, status)
}

// lose makes a pod not ready, as the node controller does for a node that does not respond.
func (c *cluster) lose(ctx context.Context, pod *corev1.Pod) error {
	return c.patchStatus(ctx, pod, map[string]any{"conditions": conditions(metav1.Now(), corev1.ConditionFalse, "")})
}

// endPod ends the containers of a pod as a script says. In a pod that runs, the setup container has succeeded before: no kubelet
// reports that it failed beside containers that run, which would be a status without exit codes (ADR 0012).
func (c *cluster) endPod(ctx context.Context, pod *corev1.Pod, s model.Script, now metav1.Time) error {
	if pod.Status.Phase == corev1.PodRunning {
		s.SetupExit = 0
	}
	phase := corev1.PodSucceeded
	exit := func(container corev1.Container) int32 {
		if container.Name == "main" {
			return s.Exit
		}
		return s.SideExit
	}
	status := map[string]any{"conditions": conditions(now, corev1.ConditionFalse, s.Condition)}
	if s.Exit != 0 || len(pod.Spec.Containers) > 1 && s.SideExit != 0 || s.Condition == corev1.DisruptionTarget {
		phase = corev1.PodFailed
	}
	if init := pod.Spec.InitContainers; len(init) > 0 {
		status["initContainerStatuses"] = statuses(init, func(corev1.Container) corev1.ContainerState { return terminated(s.SetupExit, now) }, 0)
		if s.SetupExit != 0 {
			phase = corev1.PodFailed
		}
	}
	if s.SetupExit == 0 || len(pod.Spec.InitContainers) == 0 {
		status["containerStatuses"] = statuses(pod.Spec.Containers, func(container corev1.Container) corev1.ContainerState { return terminated(exit(container), now) }, -1)
	}
	status["phase"] = phase
	return c.patchStatus(ctx, pod, status)
}

// restart counts a restart of each container of a running pod.
func (c *cluster) restart(ctx context.Context, pod *corev1.Pod, now metav1.Time) error {
	count := int32(1)
	for _, s := range pod.Status.ContainerStatuses {
		count = max(count, s.RestartCount+1)
	}
	return c.patchStatus(ctx, pod, map[string]any{"containerStatuses": statuses(pod.Spec.Containers, func(corev1.Container) corev1.ContainerState {
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	}, count)})
}

// terminate ends a pod that is being deleted, as a kubelet does: the phase comes first.
func (c *cluster) terminate(ctx context.Context, pod *corev1.Pod, exit int32, now metav1.Time) error {
	if pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning {
		if err := c.endPod(ctx, pod, model.Script{Exit: exit, SideExit: exit}, now); err != nil {
			return err
		}
	}
	return c.remove(ctx, pod)
}

// remove confirms the end of a pod that is being deleted. Its finalizers keep it.
func (c *cluster) remove(ctx context.Context, pod *corev1.Pod) error {
	return c.delete(ctx, pod, ptr.To(int64(0)))
}

// delete deletes a pod with a grace period in seconds, nil for the pod's own.
func (c *cluster) delete(ctx context.Context, pod *corev1.Pod, grace *int64) error {
	return ignoreGone(c.pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: grace, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	}))
}

func (c *cluster) evict(ctx context.Context, pod *corev1.Pod) error {
	return ignoreGone(c.pods(pod.Namespace).EvictV1(ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}, DeleteOptions: &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))},
	}))
}

func (c *cluster) orphan(ctx context.Context, pod *corev1.Pod) error {
	return c.patch(ctx, pod, types.MergePatchType, map[string]any{"metadata": map[string]any{"uid": pod.UID, "ownerReferences": nil}})
}

func (c *cluster) patchStatus(ctx context.Context, pod *corev1.Pod, status map[string]any) error {
	return c.patch(ctx, pod, types.StrategicMergePatchType, map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status}, "status")
}

func (c *cluster) patch(ctx context.Context, pod *corev1.Pod, kind types.PatchType, patch map[string]any, subresource ...string) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = c.pods(pod.Namespace).Patch(ctx, pod.Name, kind, data, metav1.PatchOptions{FieldManager: "kubelet"}, subresource...)
	return ignoreGone(err)
}

func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func conditions(now metav1.Time, ready corev1.ConditionStatus, also corev1.PodConditionType) []corev1.PodCondition {
	out := []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: now}}
	if also != "" {
		out = append(out, corev1.PodCondition{Type: also, Status: corev1.ConditionTrue, Reason: "Beside", LastTransitionTime: now})
	}
	return out
}

// statuses returns the statuses of containers; restarts is -1 to keep their number.
func statuses(containers []corev1.Container, state func(corev1.Container) corev1.ContainerState, restarts int32) (out []map[string]any) {
	for _, container := range containers {
		s := state(container)
		status := map[string]any{
			"name": container.Name, "image": container.Image, "imageID": "", "ready": s.Running != nil, "started": s.Running != nil,
			"state": map[string]any{"running": s.Running, "terminated": s.Terminated, "waiting": nil},
		}
		if restarts >= 0 {
			status["restartCount"] = restarts
		}
		out = append(out, status)
	}
	return out
}

func terminated(code int32, now metav1.Time) corev1.ContainerState {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: now, FinishedAt: now}}
}
