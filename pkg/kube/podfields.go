package kube

import (
	"bytes"
	"fmt"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// protobufPrefix is how the API server begins each protobuf message, a runtime.Unknown.
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

// podFields is a serializer whose decoders read only these fields of pods in protobuf.
type podFields struct {
	runtime.NegotiatedSerializer
	fields Fields
}

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (s podFields) DecoderToVersion(decoder runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return podDecoder{s.NegotiatedSerializer.DecoderToVersion(decoder, version), s.fields}
}

type podDecoder struct {
	runtime.Decoder
	fields Fields
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
				return pod, &kind, d.fields.unmarshal(content, pod)
			}
		case *corev1.Pod:
			if kind == podKind {
				*o = corev1.Pod{}
				return o, &kind, d.fields.unmarshal(content, o)
			}
		case *corev1.PodList:
			if kind == podListKind {
				*o = corev1.PodList{}
				return o, &kind, Fields{1: nil, 2: d.fields}.unmarshal(content, o) // metadata, items
			}
		}
	}
	return d.Decoder.Decode(data, defaults, into)
}

// buffers are used again, unless they are of long lists.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxBuffer = 64 << 10

func (f Fields) unmarshal(content []byte, into interface{ Unmarshal([]byte) error }) error {
	buffer := buffers.Get().(*[]byte)
	var err error
	if *buffer, err = f.AppendTo((*buffer)[:0], content); err == nil {
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
