// Package pods runs the pods of the conformance suite: they start, and end when a case asks for it. Simulated needs no
// containers and works on any cluster: the program acts as the kubelet of a node that it adds. Image uses real nodes and
// a real image.
package pods

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Container is the name of the only container of each pod.
const Container = "main"

// Kubelet runs pods. Its methods may be called repeatedly.
type Kubelet interface {
	// Prepare completes a Job's pod template.
	Prepare(*corev1.PodTemplateSpec)
	// Start makes a pending pod run and become ready.
	Start(context.Context, *corev1.Pod) error
	// End ends a pod with an exit code.
	End(context.Context, *corev1.Pod, int32) error
	// Stopped confirms the end of a pod that is being deleted.
	Stopped(context.Context, *corev1.Pod) error
	// Close removes the objects that the kubelet has created.
	Close() error
}

// Disrupt adds the condition DisruptionTarget, as an eviction does.
func Disrupt(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	return patchStatus(ctx, client, pod, map[string]any{"conditions": []corev1.PodCondition{{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI",
		Message: "Eviction API: evicting", LastTransitionTime: metav1.Now(),
	}}})
}

// patchStatus merges fields into the status of the pod with this UID.
func patchStatus(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, status map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{FieldManager: manager}, "status")
	return err
}

// manager is the name of this program in metadata.managedFields.
const manager = "batchjob-conformance"
