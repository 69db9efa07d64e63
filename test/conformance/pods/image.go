package pods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// Image runs pods on real nodes. A container waits until the annotation ExitCode of its pod
// appears in a volume of the downward API, and exits with that code. A kubelet that has sent
// SIGTERM updates no volumes anymore: such a container runs until its grace period is shortened.
type Image struct {
	client           kubernetes.Interface
	namespace, image string
}

const (
	// ExitCode is the annotation that ends a pod.
	ExitCode = "conformance.batchjob.dev/exit-code"
	// graceSeconds is longer than any case lasts.
	graceSeconds = 600
	volume       = "conformance"
	folder       = "/conformance"
)

// Script runs in the container. $1 is the file with the exit code.
const Script = `trap : TERM
until code=$(cat "$1" 2>/dev/null) && [ -n "$code" ]; do sleep 0.2 & wait $!; done
exit "$code"`

// NewImage returns a kubelet that uses an image with sh, cat and sleep, such as busybox, for the pods of a namespace.
func NewImage(client kubernetes.Interface, namespace, image string) *Image {
	return &Image{client, namespace, image}
}

// Prepare implements Kubelet.
func (i *Image) Prepare(template *corev1.PodTemplateSpec) {
	spec := &template.Spec
	spec.TerminationGracePeriodSeconds = ptr.To(int64(graceSeconds))
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
			Path: "exit-code", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + ExitCode + "']"},
		}}},
	}})
	c := &spec.Containers[0]
	c.Image = i.image
	c.Command = []string{"sh", "-c", Script, "sh", folder + "/exit-code"}
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: folder})
}

// Start implements Kubelet: the real one does it.
func (i *Image) Start(context.Context, *corev1.Pod) error { return nil }

// End implements Kubelet. A pod that is being deleted is killed, whatever the code.
func (i *Image) End(ctx context.Context, pod *corev1.Pod, code int32) error {
	if pod.DeletionTimestamp != nil {
		return i.kill(ctx, pod)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "annotations": map[string]string{ExitCode: strconv.Itoa(int(code))},
	}})
	if err != nil {
		return err
	}
	_, err = i.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	return err
}

// Stopped implements Kubelet: the real one does it.
func (i *Image) Stopped(context.Context, *corev1.Pod) error { return nil }

// kill shortens the grace period of a pod.
func (i *Image) kill(ctx context.Context, pod *corev1.Pod) error {
	return i.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To(int64(1)), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
}

// Close implements Kubelet. It ends what still runs: the grace periods are long.
func (i *Image) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpTime)
	defer cancel()
	list, err := i.client.CoreV1().Pods(i.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the pods that are left: %w", err)
	}
	var errs []error
	for _, pod := range list.Items {
		if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume }) {
			continue // Not of the suite: the namespace may be somebody else's.
		}
		if err := i.kill(ctx, &pod); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
