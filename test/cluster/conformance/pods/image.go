package pods

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// Image runs pods on real nodes. A container waits for a file that contains its exit code; a command in the container
// writes the file, also after SIGTERM. (The kubelet does not update volumes of pods that are being deleted, and does not
// shorten a grace period that has begun.)
type Image struct {
	client           kubernetes.Interface
	namespace, image string
	// execute runs a command in the container of a pod.
	execute func(ctx context.Context, pod *corev1.Pod, command []string) error
}

const (
	// graceSeconds is longer than any case.
	graceSeconds = 600
	volume       = "conformance"
	file         = "/conformance/exit-code"
	execTime     = 30 * time.Second
	exitSIGKILL  = 137
	// closeTime is the limit for ending all remaining pods; parallelEnds of them are ended at once.
	closeTime    = time.Minute
	pollEvery    = 500 * time.Millisecond
	parallelEnds = 10
)

// Script is the container's command. $1 is the file with the exit code.
const Script = `trap : TERM
until code=$(cat "$1" 2>/dev/null) && [ -n "$code" ]; do sleep 0.2 & wait $!; done
exit "$code"`

// EndScript ends a container that runs Script. $1 is the file, $2 the exit code.
const EndScript = `echo "$2" >"$1.$$" && mv "$1.$$" "$1"`

// NewImage returns a kubelet that uses an image with sh, cat, mv and sleep, such as busybox, for the pods of a namespace.
func NewImage(config *rest.Config, client kubernetes.Interface, namespace, image string) *Image {
	return &Image{client, namespace, image, func(ctx context.Context, pod *corev1.Pod, command []string) error {
		return execute(ctx, config, client, pod, command)
	}}
}

// Prepare implements Kubelet.
func (i *Image) Prepare(template *corev1.PodTemplateSpec) {
	spec := &template.Spec
	spec.TerminationGracePeriodSeconds = ptr.To(int64(graceSeconds))
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	c := &spec.Containers[0]
	c.Image = i.image
	c.Command = []string{"sh", "-c", Script, "sh", file}
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: "/conformance"})
}

// Start implements Kubelet. The real kubelet starts the pod.
func (i *Image) Start(context.Context, *corev1.Pod) error { return nil }

// errPending is returned until the pod's container has started.
var errPending = errors.New("the pod is pending")

// End implements Kubelet. It returns errPending for a pending pod; a pod that is deleted while pending may still run.
func (i *Image) End(ctx context.Context, pod *corev1.Pod, code int32) error {
	if pod.Status.Phase == corev1.PodPending {
		return errPending
	}
	ctx, cancel := context.WithTimeout(ctx, execTime)
	defer cancel()
	return i.execute(ctx, pod, []string{"sh", "-c", EndScript, "sh", file, strconv.Itoa(int(code))})
}

func execute(ctx context.Context, config *rest.Config, client kubernetes.Interface, pod *corev1.Pod, command []string) error {
	url := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: Container, Command: command, Stderr: true}, scheme.ParameterCodec).URL()
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", url.String())
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stderr: &stderr})
	if refused := (*httpstream.UpgradeFailureError)(nil); errors.As(err, &refused) {
		err = refused.Cause // The API server's answer; unwrapping failure does not return it.
	}
	switch {
	case err == nil || isKilled(err):
		return nil
	case ctx.Err() != nil: // The command may still be writing to stderr.
		return fmt.Errorf("running a command in pod %s: %w", pod.Name, err)
	}
	return fmt.Errorf("running a command in pod %s: %w: %s", pod.Name, err, &stderr)
}

// isKilled reports whether a command in a container was killed: a command that ends its container may be killed with it.
func isKilled(err error) bool {
	var code exec.CodeExitError
	return errors.As(err, &code) && code.Code == exitSIGKILL
}

// Stopped implements Kubelet. The real kubelet confirms the end.
func (i *Image) Stopped(context.Context, *corev1.Pod) error { return nil }

// Close implements Kubelet. It ends the pods that still run, as the grace periods are long.
func (i *Image) Close() error {
	var problem error
	err := wait.PollUntilContextTimeout(context.Background(), pollEvery, closeTime, true, func(ctx context.Context) (bool, error) {
		running, err := i.endAll(ctx)
		if ctx.Err() == nil {
			problem = err
		}
		return running == 0 && err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("ending the pods that are left in namespace %s: %w", i.namespace, cmp.Or(problem, err))
	}
	return nil
}

// endAll ends all running pods of the suite and returns how many there were. Failures are retried: a pod may have
// changed since it was listed.
func (i *Image) endAll(ctx context.Context) (running int, err error) {
	list, err := i.client.CoreV1().Pods(i.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, fmt.Errorf("listing them: %w", err)
	}
	var calls errgroup.Group
	calls.SetLimit(parallelEnds)
	for _, pod := range list.Items {
		if isRunning(&pod) {
			running++
			calls.Go(func() error { return i.remove(ctx, &pod) })
		}
	}
	return running, calls.Wait()
}

// isRunning reports whether a pod belongs to the suite and runs or may still start.
func isRunning(pod *corev1.Pod) bool {
	if history.HasEnded(pod) || pod.DeletionTimestamp != nil && pod.Spec.NodeName == "" {
		return false
	}
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume })
}

func (i *Image) remove(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil && pod.Status.Phase == corev1.PodRunning {
		return i.End(ctx, pod, 0)
	}
	return i.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To(int64(1)), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
}
