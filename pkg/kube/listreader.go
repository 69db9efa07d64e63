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

// IsProtobuf reports whether an answer of the API server is protobuf, without consuming any of it.
func IsProtobuf(answer *bufio.Reader) bool {
	prefix, err := answer.Peek(len(protobufPrefix))
	return err == nil && bytes.Equal(prefix, protobufPrefix)
}

// EachFieldOfAnswer calls each for the fields of the object in a protobuf answer that are strings or messages, as soon
// as each has arrived: for a list, its metadata, then its items. A value is valid only until each returns.
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

// rawNumber is the number of the field of runtime.Unknown that holds the object.
const rawNumber = 2

// noEOF converts io.EOF within a field to io.ErrUnexpectedEOF.
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
	long bytes.Buffer // holds the last value that is longer than the buffer of in
}

// eachField calls each for the fields up to the offset end.
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

// tag reads the number of a field and the size of its value, which the caller reads next. For a number, it skips the
// value and returns the size -1.
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

// maxField is larger than any list, and small enough that offsets do not overflow.
const maxField = 1 << 40

// value returns the value of a field; it is valid until the next method call.
func (r *fieldReader) value(size int64) ([]byte, error) {
	r.read += size
	if size <= int64(r.in.Size()) {
		value, err := r.in.Peek(int(size))
		if err != nil {
			return nil, err
		}
		_, err = r.in.Discard(int(size)) // Discard does not move what Peek has returned.
		return value, err
	}
	r.long.Reset()
	_, err := io.CopyN(&r.long, r.in, size) // Memory grows with the bytes received, whatever size claims.
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
