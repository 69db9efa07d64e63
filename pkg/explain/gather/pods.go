package gather

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// podsOf reads the pods that the Job controls. It returns no pods with an error.
func podsOf(ctx context.Context, client kube.Interface, job *batchv1.Job) (pods []*input.Pod, err error) {
	begin := func() { pods = make([]*input.Pod, 0, ExpectedPods(job)) }
	if _, err = EachPod(ctx, client, job, begin, func(pod *corev1.Pod) { pods = append(pods, input.PodOf(pod)) }); err != nil {
		return nil, err
	}
	return pods, nil
}

// ExpectedPods returns the number of pods that the Job's status counts; pods that ended may be gone. The number is limited,
// as a status may contain anything.
func ExpectedPods(job *batchv1.Job) int64 {
	s := &job.Status
	all := int64(s.Active) + int64(s.Succeeded) + int64(s.Failed) + int64(ptr.Deref(s.Terminating, 0))
	return min(max(0, all), maxExpectedPods)
}

// PodSelector returns the label selector for the pods of the Job. It may match other pods too: their owner decides. A Job
// without a selector has no pods yet.
func PodSelector(job *batchv1.Job) (string, error) {
	if job.Spec.Selector == nil {
		return podsNamedAfter(job.Name), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return "", fmt.Errorf("the Job's selector: %w", err)
	}
	return selector.String(), nil
}

func podsNamedAfter(job string) string { return batchv1.JobNameLabel + "=" + job }

// CountPods returns the number of pods with the label of a Job of this name, which may be gone.
func CountPods(ctx context.Context, client kube.Interface, namespace, job string) (count int, err error) {
	begin := func() { count = 0 }
	_, err = eachPod(ctx, client, namespace, podsNamedAfter(job), kube.Fields{}, begin, func(*corev1.Pod) { count++ })
	return count, err
}

// EachPod reads the pods that the Job controls, in pages, and returns the resourceVersion to watch from. begin is called
// before the first page, and again if reading has to start over. each must not keep the pod after it returns; the pod has the
// fields that explanations and logs need.
func EachPod(ctx context.Context, client kube.Interface, job *batchv1.Job, begin func(), each func(*corev1.Pod)) (version string, err error) {
	return eachOwnPod(ctx, client, job, neededOfPods(), begin, each)
}

// EachPodOf is EachPod with a custom selector, such as for some of the Job's pods.
func EachPodOf(ctx context.Context, client kube.Interface, job *batchv1.Job, selector string, begin func(), each func(*corev1.Pod)) (version string, err error) {
	return eachPod(ctx, client, job.Namespace, selector, neededOfPods(), begin, controlledBy(job, each))
}

// EachWholePod is EachPod with all fields.
func EachWholePod(ctx context.Context, client kube.Interface, job *batchv1.Job, begin func(), each func(*corev1.Pod)) (version string, err error) {
	return eachOwnPod(ctx, client, job, nil, begin, each)
}

func eachOwnPod(
	ctx context.Context, client kube.Interface, job *batchv1.Job, needed kube.Fields, begin func(), each func(*corev1.Pod),
) (version string, err error) {
	selector, err := PodSelector(job)
	if err != nil {
		return "", err
	}
	return eachPod(ctx, client, job.Namespace, selector, needed, begin, controlledBy(job, each))
}

// controlledBy returns a function that calls each with the pods that the Job controls.
func controlledBy(job *batchv1.Job, each func(*corev1.Pod)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if observe.JobUID(pod) == job.UID {
			each(pod)
		}
	}
}

func eachPod(
	ctx context.Context, client kube.Interface, namespace, selector string, needed kube.Fields, begin func(), each func(*corev1.Pod),
) (version string, err error) {
	options := metav1.ListOptions{LabelSelector: selector, Limit: podPageSize}
	err = eachPage(ctx, options, func(options metav1.ListOptions) (string, error) {
		if options.Continue == "" {
			begin()
		}
		page, err := readPodPage(ctx, client, namespace, needed, options, each)
		version = page.ResourceVersion
		return page.Continue, err
	})
	return version, err
}

// eachPage requests page after page of options.Limit objects, until read returns no continue token. When a token has expired,
// it starts over without pages.
func eachPage(ctx context.Context, options metav1.ListOptions, read func(metav1.ListOptions) (next string, err error)) error {
	for {
		next, err := read(options)
		switch {
		case apierrors.IsResourceExpired(err) && options.Continue != "":
			options.Continue, options.Limit = "", 0
			continue
		case err != nil:
			return err
		case next == "":
			return ctx.Err()
		}
		options.Continue = next
	}
}

// readAhead is larger than most pods.
const readAhead = 64 << 10

// readPodPage calls each with the pods of one page as they arrive, as a page may be too large for memory. It decodes only the
// given fields of each pod, or all if fields is nil: a Job may have 100,000 pods, and explanations and logs need a quarter of
// each.
func readPodPage(
	ctx context.Context, client kube.Interface, namespace string, fields kube.Fields, options metav1.ListOptions, each func(*corev1.Pod),
) (metav1.ListMeta, error) {
	list := corev1.PodList{}
	stream, err := client.CoreV1().RESTClient().Get().Namespace(namespace).Resource("pods").
		VersionedParams(&options, kube.ParameterCodec).Stream(ctx)
	if err != nil {
		return list.ListMeta, err
	}
	defer func() { _ = stream.Close() }() // It was read to its end, or failed.
	answer := bufio.NewReaderSize(stream, readAhead)
	if kube.IsProtobuf(answer) {
		var kept []byte // The buffers are reused for the next pod.
		var pod corev1.Pod
		err = kube.EachFieldOfAnswer(answer, func(number protowire.Number, value []byte) (err error) {
			switch number {
			case 1:
				return list.ListMeta.Unmarshal(value)
			case 2:
				if fields != nil {
					if kept, err = fields.AppendTo(kept[:0], value); err != nil {
						return err
					}
					value = kept
				}
				pod = corev1.Pod{}
				if err = pod.Unmarshal(value); err == nil {
					each(&pod)
				}
			}
			return err
		})
	} else { // A proxy between the plugin and the API server does not support protobuf.
		var text []byte
		if text, err = io.ReadAll(answer); err == nil {
			err = runtime.DecodeInto(kube.Codecs.UniversalDeserializer(), text, &list)
		}
	}
	if err != nil {
		return list.ListMeta, fmt.Errorf("reading a list of pods: %w", err)
	}
	for i := range list.Items {
		each(&list.Items[i])
	}
	return list.ListMeta, nil
}

// neededOfPods returns the fields that input.PodOf and logs.NewPod read.
var neededOfPods = sync.OnceValue(func() kube.Fields {
	paths := []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "metadata.creationTimestamp",
		"metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds", "metadata.annotations", "metadata.ownerReferences",
		"metadata.finalizers", "spec.restartPolicy", "spec.nodeName", "spec.schedulingGates", "spec.resources",
		"status.phase", "status.conditions", "status.message", "status.reason", "status.startTime",
	}
	for _, kind := range []string{"containers", "initContainers"} {
		paths = append(paths, "spec."+kind+".name", "spec."+kind+".restartPolicy", "spec."+kind+".image", "spec."+kind+".resources")
	}
	for _, kind := range []string{"containerStatuses", "initContainerStatuses"} {
		for _, field := range []string{"name", "state", "lastState", "ready", "restartCount", "started", "image", "resources"} {
			paths = append(paths, "status."+kind+"."+field)
		}
	}
	return kube.FieldsOf[corev1.Pod](paths...)
})
