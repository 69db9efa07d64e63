package pods

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Container is the name of the container of each pod.
const Container = "main"

// Kubelet runs pods. Its methods may be repeated.
type Kubelet interface {
	// Prepare completes the template of a Job.
	Prepare(*corev1.PodTemplateSpec)
	// Start has a pending pod run and be ready.
	Start(context.Context, *corev1.Pod) error
	// End ends a pod with an exit code.
	End(context.Context, *corev1.Pod, int32) error
	// Stopped confirms the end of a pod that is being deleted.
	Stopped(context.Context, *corev1.Pod) error
	// Close removes what the kubelet has created.
	Close() error
}

// Disrupt adds the condition of a pod that is about to be evicted.
func Disrupt(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	return patchStatus(ctx, client, pod, map[string]any{"conditions": []corev1.PodCondition{{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI",
		Message: "Eviction API: evicting", LastTransitionTime: metav1.Now(),
	}}})
}

// patchStatus merges fields into the status of this very pod.
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
