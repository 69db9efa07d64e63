package kube

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// IsProtobuf reports whether the API server answers with protobuf; it reads nothing.
func IsProtobuf(answer *bufio.Reader) bool {
	prefix, err := answer.Peek(len(protobufPrefix))
	return err == nil && bytes.Equal(prefix, protobufPrefix)
}

// EachFieldOfAnswer calls each with the fields of the object in an answer, in protobuf, that are strings or messages, as soon
// as one has arrived: first the metadata of a list, then its items. A value is each's only until it returns.
func EachFieldOfAnswer(answer *bufio.Reader, each func(number protowire.Number, value []byte) error) error {
	if _, err := answer.Discard(len(protobufPrefix)); err != nil {
		return err
	}
	r := fieldReader{in: answer}
	for {
		if _, err := answer.Peek(1); errors.Is(err, io.EOF) {
			return nil
		}
		number, size, err := r.tag()
		switch {
		case err != nil:
			return noEOF(err)
		case number == rawNumber && size >= 0:
			err = r.eachField(r.read+size, each)
		case size >= 0:
			_, err = r.value(size)
		}
		if err != nil {
			return noEOF(err)
		}
	}
}

// rawNumber is the field of a runtime.Unknown with the object.
const rawNumber = 2

// noEOF is for an answer that ends within a field.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// fieldReader reads the fields of a message.
type fieldReader struct {
	in   *bufio.Reader
	read int64
	long bytes.Buffer // has the last value that is longer than the buffer of in
}

// eachField calls each with the fields up to an offset.
func (r *fieldReader) eachField(end int64, each func(protowire.Number, []byte) error) error {
	for r.read < end {
		number, size, err := r.tag()
		switch {
		case err != nil:
			return err
		case size < 0:
			continue
		case size > end-r.read:
			return errors.New("a field is longer than its message")
		}
		value, err := r.value(size)
		if err != nil {
			return err
		}
		if err := each(number, value); err != nil {
			return err
		}
	}
	return nil
}

// tag reads the number of a field and the size of its value, which is to be read next. The size is -1 for a number, whose
// value tag skips.
func (r *fieldReader) tag() (number protowire.Number, size int64, err error) {
	tag, err := binary.ReadUvarint(r)
	if err != nil {
		return 0, 0, err
	}
	number, kind := protowire.DecodeTag(tag)
	switch kind {
	case protowire.BytesType:
		length, err := binary.ReadUvarint(r)
		if length > maxField {
			return 0, 0, fmt.Errorf("field %d has %d bytes", number, length)
		}
		return number, int64(length), err
	case protowire.VarintType:
		_, err = binary.ReadUvarint(r)
	case protowire.Fixed32Type:
		_, err = r.value(4)
	case protowire.Fixed64Type:
		_, err = r.value(8)
	default:
		err = fmt.Errorf("field %d has the wire type %d", number, kind)
	}
	return number, -1, err
}

// maxField is more than any list has, and small enough to add offsets.
const maxField = 1 << 40

// value returns the value of a field, until the next call of a method.
func (r *fieldReader) value(size int64) ([]byte, error) {
	r.read += size
	if size <= int64(r.in.Size()) {
		value, err := r.in.Peek(int(size))
		if err != nil {
			return nil, err
		}
		_, err = r.in.Discard(int(size)) // It does not move what Peek has returned.
		return value, err
	}
	r.long.Reset()
	_, err := io.CopyN(&r.long, r.in, size) // Its memory grows with what arrives, whatever size says.
	return r.long.Bytes(), err
}

// ReadByte implements io.ByteReader.
func (r *fieldReader) ReadByte() (byte, error) {
	b, err := r.in.ReadByte()
	if err == nil {
		r.read++
	}
	return b, err
}
