package pods

import (
	"context"
	"encoding/json"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// Image runs pods on real nodes. A container waits until the annotation ExitCode of its pod
// appears in a volume of the downward API, and exits with that code. A kubelet that has sent
// SIGTERM updates no volumes anymore, so that such a container ends after TermSeconds, by itself.
type Image struct {
	client kubernetes.Interface
	image  string
}

const (
	// ExitCode is the annotation that ends a pod.
	ExitCode = "conformance.batchjob.dev/exit-code"
	// TermSeconds is how long a container runs after SIGTERM.
	TermSeconds = "5"
	folder      = "/conformance"
)

// Script runs in the container. $1 is the file with the exit code.
const Script = `trap 'sleep ` + TermSeconds + `; exit 143' TERM
until code=$(cat "$1" 2>/dev/null) && [ -n "$code" ]; do sleep 0.2 & wait $!; done
exit "$code"`

// NewImage returns a kubelet that uses an image with sh, cat and sleep, such as busybox.
func NewImage(client kubernetes.Interface, image string) *Image { return &Image{client, image} }

// Prepare implements Kubelet.
func (i *Image) Prepare(template *corev1.PodTemplateSpec) {
	spec := &template.Spec
	spec.TerminationGracePeriodSeconds = ptr.To(int64(60))
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "conformance", VolumeSource: corev1.VolumeSource{
		DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
			Path: "exit-code", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + ExitCode + "']"},
		}}},
	}})
	c := &spec.Containers[0]
	c.Image = i.image
	c.Command = []string{"sh", "-c", Script, "sh", folder + "/exit-code"}
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "conformance", MountPath: folder})
}

// Start implements Kubelet: the real one does it.
func (i *Image) Start(context.Context, *corev1.Pod) error { return nil }

// End implements Kubelet.
func (i *Image) End(ctx context.Context, pod *corev1.Pod, code int32) error {
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

// Close implements Kubelet.
func (i *Image) Close() error { return nil }
