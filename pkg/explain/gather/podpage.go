package gather

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// protobufPrefix is how the API server begins each protobuf message.
var protobufPrefix = []byte("k8s\x00")

// podReader reads lists of pods page by page. Of each pod it decodes the fields that fields has, or all if that is nil: a
// Job may have 100,000 pods, and what explanations and logs need of one is a quarter of it.
type podReader struct {
	client    kube.Interface
	namespace string
	fields    fieldSet
	// What follows is used again for the next page or pod.
	page bytes.Buffer
	kept []byte
	pod  corev1.Pod
}

// read calls each with the pods of one page.
func (r *podReader) read(ctx context.Context, options metav1.ListOptions, each func(*corev1.Pod)) (metav1.ListMeta, error) {
	stream, err := r.client.CoreV1().RESTClient().Get().Namespace(r.namespace).Resource("pods").
		VersionedParams(&options, kube.ParameterCodec).Stream(ctx)
	if err != nil {
		return metav1.ListMeta{}, err
	}
	defer func() { _ = stream.Close() }() // It was read to its end, or failed.
	r.page.Reset()
	if _, err := r.page.ReadFrom(stream); err != nil {
		return metav1.ListMeta{}, err
	}
	if data, isProtobuf := bytes.CutPrefix(r.page.Bytes(), protobufPrefix); isProtobuf {
		return r.decode(data, each)
	}
	list := &corev1.PodList{}
	if err := runtime.DecodeInto(kube.Codecs.UniversalDeserializer(), r.page.Bytes(), list); err != nil {
		return metav1.ListMeta{}, fmt.Errorf("reading a list of pods: %w", err)
	}
	for i := range list.Items {
		each(&list.Items[i])
	}
	return list.ListMeta, nil
}

// decode reads the PodList of a runtime.Unknown, one pod at a time.
func (r *podReader) decode(data []byte, each func(*corev1.Pod)) (meta metav1.ListMeta, err error) {
	err = eachField(data, func(number protowire.Number, list []byte) error {
		if number != 2 { // raw
			return nil
		}
		return eachField(list, func(number protowire.Number, value []byte) error {
			switch number {
			case 1:
				return meta.Unmarshal(value)
			case 2:
				return r.decodePod(value, each)
			}
			return nil
		})
	})
	if err != nil {
		return meta, fmt.Errorf("reading a list of pods: %w", err)
	}
	return meta, nil
}

func (r *podReader) decodePod(data []byte, each func(*corev1.Pod)) (err error) {
	if r.fields != nil {
		if r.kept, err = r.fields.appendTo(r.kept[:0], data); err != nil {
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

// fieldSet is fields of a protobuf message by number, with what is kept of each; nil is all of it.
type fieldSet map[protowire.Number]fieldSet

// neededOfPods are the fields that explain.PodOf and logs.NewPod read, with the numbers that they have in generated.proto
// of k8s.io/api/core/v1.
func neededOfPods() fieldSet {
	container := fieldSet{1: nil, 24: nil}                           // name, restartPolicy
	status := fieldSet{1: nil, 2: nil, 3: nil, 4: nil, 5: nil}       // name, state, lastState, ready, restartCount
	meta := fieldSet{1: nil, 3: nil, 5: nil, 6: nil, 8: nil, 9: nil} // name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp
	meta[10], meta[12], meta[13], meta[14] = nil, nil, nil, nil      // deletionGracePeriodSeconds, annotations, ownerReferences, finalizers
	return fieldSet{
		1: meta,
		2: {2: container, 3: nil, 10: nil, 20: container, 38: nil},         // containers, restartPolicy, nodeName, initContainers, schedulingGates
		3: {1: nil, 2: nil, 3: nil, 4: nil, 7: nil, 8: status, 10: status}, // phase, conditions, message, reason, startTime, containerStatuses, initContainerStatuses
	}
}

// appendTo appends those fields of a message to to.
func (s fieldSet) appendTo(to, message []byte) ([]byte, error) {
	for len(message) > 0 {
		number, value, size := nextField(message)
		if size < 0 {
			return to, protowire.ParseError(size)
		}
		within, kept := s[number]
		switch {
		case kept && within == nil:
			to = append(to, message[:size]...)
		case kept:
			to = protowire.AppendTag(to, number, protowire.BytesType)
			start := len(to)
			var err error
			if to, err = within.appendTo(to, value); err != nil {
				return to, err
			}
			var length [10]byte
			to = slices.Insert(to, start, protowire.AppendVarint(length[:0], uint64(len(to)-start))...)
		}
		message = message[size:]
	}
	return to, nil
}

// eachField calls each with the fields of a message that are strings or messages.
func eachField(message []byte, each func(protowire.Number, []byte) error) error {
	for len(message) > 0 {
		number, value, size := nextField(message)
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := each(number, value); err != nil {
			return err
		}
		message = message[size:]
	}
	return nil
}

// nextField returns the first field of a message, its value if that is a string or a message, and its size; a size below 0
// is an error.
func nextField(message []byte) (number protowire.Number, value []byte, size int) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return 0, nil, tag
	}
	if kind == protowire.BytesType {
		value, size = protowire.ConsumeBytes(message[tag:])
	} else {
		size = protowire.ConsumeFieldValue(number, kind, message[tag:])
	}
	if size < 0 {
		return 0, nil, size
	}
	return number, value, tag + size
}
