package kube

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields selects fields of a protobuf message by number, and within each, the fields to keep; nil keeps all. Decoding
// only these takes a fraction of the time and memory: only the API server and the nodes need most of a pod.
type Fields map[protowire.Number]Fields

// FieldsOf returns the Fields of the type T with these JSON paths, such as "metadata.name". A path does not contain
// list indexes, and the path of a message selects all of its fields. FieldsOf panics if T has no such field.
func FieldsOf[T any](paths ...string) Fields {
	f := Fields{}
	for _, path := range paths {
		f.add(reflect.TypeFor[T](), strings.Split(path, "."))
	}
	return f
}

func (f Fields) add(of reflect.Type, path []string) {
	for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	number, field := protobufField(of, path[0])
	within, known := f[number]
	switch {
	case len(path) == 1:
		f[number] = nil
	case !known:
		within = Fields{}
		f[number] = within
		fallthrough
	case within != nil: // Otherwise, the whole field is selected already.
		within.add(field, path[1:])
	}
}

// protobufField returns the number and the type of a field, from the struct tags of the API type.
func protobufField(of reflect.Type, name string) (protowire.Number, reflect.Type) {
	for i := range of.NumField() {
		field := of.Field(i)
		if json, _, _ := strings.Cut(field.Tag.Get("json"), ","); json != name {
			continue
		}
		if tag := strings.Split(field.Tag.Get("protobuf"), ","); len(tag) > 1 {
			if number, err := strconv.ParseInt(tag[1], 10, 32); err == nil {
				return protowire.Number(number), field.Type
			}
		}
	}
	panic(fmt.Sprintf("%s has no field %s", of, name))
}

// AppendTo appends the selected fields of message to to.
func (f Fields) AppendTo(to, message []byte) ([]byte, error) {
	for len(message) > 0 {
		number, value, size := nextField(message)
		if size < 0 {
			return to, protowire.ParseError(size)
		}
		within, kept := f[number]
		switch {
		case kept && within == nil:
			to = append(to, message[:size]...)
		case kept:
			var err error
			if to, err = appendMessage(to, number, func(to []byte) ([]byte, error) { return within.AppendTo(to, value) }); err != nil {
				return to, err
			}
		}
		message = message[size:]
	}
	return to, nil
}

// appendMessage appends a field whose value is the message that content appends.
func appendMessage(to []byte, number protowire.Number, content func(to []byte) ([]byte, error)) ([]byte, error) {
	to = protowire.AppendTag(to, number, protowire.BytesType)
	start := len(to)
	to, err := content(to)
	var length [10]byte
	return slices.Insert(to, start, protowire.AppendVarint(length[:0], uint64(len(to)-start))...), err
}

// EachField calls each for all fields of a message; value is nil unless the field is a string or a message.
func EachField(message []byte, each func(protowire.Number, []byte) error) error {
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

// nextField returns the number and the size of the first field of a message, and its value if that is a string or a
// message; a size below 0 is an error.
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
