package kube

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// protobufPrefix begins each protobuf message of the API server, a runtime.Unknown.
var protobufPrefix = []byte("k8s\x00")

// Unwrap returns the kind and the content of a message of the API server; isProtobuf is false if it is not protobuf.
func Unwrap(message []byte) (kind schema.GroupVersionKind, content []byte, isProtobuf bool, err error) {
	unknown, isProtobuf := bytes.CutPrefix(message, protobufPrefix)
	if !isProtobuf {
		return kind, nil, false, nil
	}
	var version, name string
	err = EachField(unknown, func(number protowire.Number, value []byte) error {
		switch number {
		case 1: // typeMeta
			return EachField(value, func(number protowire.Number, value []byte) error {
				switch number {
				case 1:
					version = string(value)
				case 2:
					name = string(value)
				}
				return nil
			})
		case 2: // raw
			content = value
		}
		return nil
	})
	return schema.FromAPIVersionAndKind(version, name), content, true, err
}

// Foreign reports, given the UID of a pod and the reference to its controller, whether to decode only the pod's
// identity. It is called before the pod is decoded, concurrently, and never for a pod without a controller.
type Foreign func(pod types.UID, controller *metav1.OwnerReference) bool

// identity selects the fields to decode of a foreign pod.
var identity = FieldsOf[corev1.Pod]("metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "metadata.ownerReferences")

// These are the numbers of the fields that are read before a pod is decoded.
var (
	metadataNumber, _ = protobufField(reflect.TypeFor[corev1.Pod](), "metadata")
	uidNumber, _      = protobufField(reflect.TypeFor[metav1.ObjectMeta](), "uid")
	ownersNumber, _   = protobufField(reflect.TypeFor[metav1.ObjectMeta](), "ownerReferences")
	listMeta, _       = protobufField(reflect.TypeFor[corev1.PodList](), "metadata")
	listItems, _      = protobufField(reflect.TypeFor[corev1.PodList](), "items")
)

// podReader selects the fields of pods to decode: all if fields is nil, and only identity if foreign is true for the
// pod.
type podReader struct {
	fields  Fields
	foreign Foreign
}

// fieldsOf returns the fields to decode of a pod.
func (r podReader) fieldsOf(pod []byte) (Fields, error) {
	if r.foreign == nil {
		return r.fields, nil
	}
	uid, controller, err := controllerOf(pod)
	if err == nil && controller != nil && r.foreign(uid, controller) {
		return identity, nil
	}
	return r.fields, err
}

// controllerOf returns the UID of an encoded pod, and the reference to its controller.
func controllerOf(pod []byte) (uid types.UID, controller *metav1.OwnerReference, err error) {
	err = EachField(pod, func(number protowire.Number, metadata []byte) error {
		if number != metadataNumber {
			return nil
		}
		return EachField(metadata, func(number protowire.Number, value []byte) error {
			switch number {
			case uidNumber:
				uid = types.UID(value)
			case ownersNumber:
				owner := &metav1.OwnerReference{}
				if err := owner.Unmarshal(value); err != nil {
					return err
				}
				if owner.Controller != nil && *owner.Controller {
					controller = owner
				}
			}
			return nil
		})
	})
	return uid, controller, err
}

// appendPod appends the selected fields of an encoded pod to to.
func (r podReader) appendPod(to, pod []byte) ([]byte, error) {
	fields, err := r.fieldsOf(pod)
	switch {
	case err != nil:
		return to, err
	case fields == nil:
		return append(to, pod...), nil
	}
	return fields.AppendTo(to, pod)
}

// appendList appends the selected fields of an encoded list of pods to to.
func (r podReader) appendList(to, list []byte) ([]byte, error) {
	err := EachField(list, func(number protowire.Number, value []byte) (err error) {
		switch number {
		case listMeta:
			to = protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), value)
		case listItems:
			to, err = appendMessage(to, number, func(to []byte) ([]byte, error) { return r.appendPod(to, value) })
		}
		return err
	})
	return to, err
}

// podFields is a serializer whose decoders decode only the selected fields of pods in protobuf.
type podFields struct {
	runtime.NegotiatedSerializer
	reader podReader
}

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (s podFields) DecoderToVersion(decoder runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return podDecoder{s.NegotiatedSerializer.DecoderToVersion(decoder, version), s.reader}
}

type podDecoder struct {
	runtime.Decoder
	reader podReader
}

var (
	podKind     = corev1.SchemeGroupVersion.WithKind("Pod")
	podListKind = corev1.SchemeGroupVersion.WithKind("PodList")
)

// Decode implements runtime.Decoder.
func (d podDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	kind, content, isProtobuf, err := Unwrap(data)
	if isProtobuf && err == nil {
		switch o := into.(type) {
		case nil:
			if kind == podKind {
				pod := &corev1.Pod{}
				return pod, &kind, unmarshal(d.reader.appendPod, content, pod)
			}
		case *corev1.Pod:
			if kind == podKind {
				*o = corev1.Pod{}
				return o, &kind, unmarshal(d.reader.appendPod, content, o)
			}
		case *corev1.PodList:
			if kind == podListKind {
				*o = corev1.PodList{}
				return o, &kind, unmarshal(d.reader.appendList, content, o)
			}
		}
	}
	return d.Decoder.Decode(data, defaults, into)
}

// buffers are reused, unless they have grown for long lists.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxBuffer = 64 << 10

// unmarshal decodes the part of message that appendTo selects.
func unmarshal(appendTo func(to, message []byte) ([]byte, error), message []byte, into interface{ Unmarshal([]byte) error }) error {
	buffer := buffers.Get().(*[]byte)
	var err error
	if *buffer, err = appendTo((*buffer)[:0], message); err == nil {
		err = into.Unmarshal(*buffer)
	}
	if cap(*buffer) <= maxBuffer {
		buffers.Put(buffer)
	}
	if err != nil {
		return fmt.Errorf("reading pods: %w", err)
	}
	return nil
}
