package kube

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields are some fields of a protobuf message by number, with what is kept of each; nil is all of it. To decode only them
// takes a fraction of the time and memory, as most of a pod is what only the API server and nodes need.
type Fields map[protowire.Number]Fields

// FieldsOf returns the fields of the type T that have these paths in JSON, such as "metadata.name"; a path does not
// name list indexes, and a path to a message has all of it. It panics if T has no such field.
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
	case within != nil: // Otherwise, all of it is named already.
		within.add(field, path[1:])
	}
}

// protobufField returns the number and the type of a field, which the tags of the API's types have.
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

// AppendTo appends these fields of a message to to.
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

// appendMessage appends a field with the message that content appends.
func appendMessage(to []byte, number protowire.Number, content func(to []byte) ([]byte, error)) ([]byte, error) {
	to = protowire.AppendTag(to, number, protowire.BytesType)
	start := len(to)
	to, err := content(to)
	var length [10]byte
	return slices.Insert(to, start, protowire.AppendVarint(length[:0], uint64(len(to)-start))...), err
}

// EachField calls each with the fields of a message that are strings or messages.
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
