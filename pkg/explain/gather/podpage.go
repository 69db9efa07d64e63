package gather

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// podReader reads lists of pods page by page. It decodes only the given fields of each pod, or all if fields is nil: a Job
// may have 100,000 pods, and explanations and logs need a quarter of each.
type podReader struct {
	client    kube.Interface
	namespace string
	fields    kube.Fields

	// The buffers are reused for the next pod.
	kept []byte
	pod  corev1.Pod
}

// readAhead is larger than most pods.
const readAhead = 64 << 10

// read calls each with the pods of one page as they arrive, as a page may be too large for memory.
func (r *podReader) read(ctx context.Context, options metav1.ListOptions, each func(*corev1.Pod)) (meta metav1.ListMeta, err error) {
	stream, err := r.client.CoreV1().RESTClient().Get().Namespace(r.namespace).Resource("pods").
		VersionedParams(&options, kube.ParameterCodec).Stream(ctx)
	if err != nil {
		return metav1.ListMeta{}, err
	}
	defer func() { _ = stream.Close() }() // It was read to its end, or failed.
	answer := bufio.NewReaderSize(stream, readAhead)
	if kube.IsProtobuf(answer) {
		meta, err = r.readProtobuf(answer, each)
	} else {
		meta, err = readJSON(answer, each)
	}
	if err != nil {
		return meta, fmt.Errorf("reading a list of pods: %w", err)
	}
	return meta, nil
}

// readProtobuf reads a PodList, one pod at a time.
func (r *podReader) readProtobuf(answer *bufio.Reader, each func(*corev1.Pod)) (meta metav1.ListMeta, err error) {
	err = kube.EachFieldOfAnswer(answer, func(number protowire.Number, value []byte) error {
		switch number {
		case 1:
			return meta.Unmarshal(value)
		case 2:
			return r.decodePod(value, each)
		}
		return nil
	})
	return meta, err
}

func (r *podReader) decodePod(data []byte, each func(*corev1.Pod)) (err error) {
	if r.fields != nil {
		if r.kept, err = r.fields.AppendTo(r.kept[:0], data); err != nil {
			return err
		}
		data = r.kept
	}
	r.pod = corev1.Pod{}
	if err := r.pod.Unmarshal(data); err != nil {
		return err
	}
	each(&r.pod)
	return nil
}

// readJSON reads a PodList from a proxy between the plugin and an API server that does not support protobuf.
func readJSON(answer io.Reader, each func(*corev1.Pod)) (metav1.ListMeta, error) {
	text, err := io.ReadAll(answer)
	if err != nil {
		return metav1.ListMeta{}, err
	}
	list := &corev1.PodList{}
	if err := runtime.DecodeInto(kube.Codecs.UniversalDeserializer(), text, list); err != nil {
		return metav1.ListMeta{}, err
	}
	for i := range list.Items {
		each(&list.Items[i])
	}
	return list.ListMeta, nil
}

// neededOfPods returns the fields that explain.PodOf and logs.NewPod read.
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
