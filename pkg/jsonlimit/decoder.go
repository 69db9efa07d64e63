// Package jsonlimit decodes untrusted JSON within limits of length and memory. "[{},{}]" is short, but each of its elements
// may become a struct of a kilobyte, so the memory of a value is estimated before it is decoded.
package jsonlimit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// ErrMemory is the error for values that would use too much memory.
var ErrMemory = errors.New("it takes too much memory")

// Decoder decodes a sequence of values.
type Decoder struct {
	in      io.LimitedReader
	json    *json.Decoder
	longest int64
	left    *int64
}

// NewDecoder returns a Decoder of values that are at most longest bytes long. left is how many bytes of memory they may use
// together; the Decoder decreases it, and may share it with other Decoders.
func NewDecoder(r io.Reader, longest int64, left *int64) *Decoder {
	d := &Decoder{in: io.LimitedReader{R: r}, longest: longest, left: left}
	d.json = json.NewDecoder(&d.in)
	return d
}

// Decode decodes the next value into the variable that into points to. It returns the errors of a json.Decoder, and
// ErrMemory.
func (d *Decoder) Decode(into any) error {
	raw, err := d.Raw()
	if err != nil {
		return err
	}
	if err := d.Reserve(raw, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// Raw returns the next value without decoding it.
func (d *Decoder) Raw() (raw json.RawMessage, err error) {
	d.in.N = d.longest
	if err := d.json.Decode(&raw); err != nil {
		return nil, d.readable(err)
	}
	return raw, nil
}

// Reserve subtracts from the remaining memory the size of raw decoded into each of the types.
func (d *Decoder) Reserve(raw json.RawMessage, types ...reflect.Type) error {
	for _, t := range types {
		if *d.left -= sizeOf(t, raw, *d.left); *d.left < 0 {
			return ErrMemory
		}
	}
	return nil
}

// Fits reports whether data, which must be valid JSON, uses at most so many bytes of memory when decoded into a t.
func Fits(t reflect.Type, data []byte, most int64) bool { return sizeOf(t, data, most) <= most }

// Members calls each for every member of the next value, which must be an object or an array, according to kind, or null,
// which has no members. name is "" in an array. each must decode the member.
func (d *Decoder) Members(kind json.Delim, each func(name string) error) error {
	d.in.N = d.longest
	begin, err := d.json.Token()
	switch {
	case err != nil:
		return d.readable(err)
	case begin == nil:
		return nil
	case begin != kind:
		return fmt.Errorf("it has %v in place of %v", begin, kind)
	}
	for d.json.More() {
		name := ""
		if kind == '{' {
			key, err := d.json.Token()
			if err != nil {
				return d.readable(err)
			}
			name, _ = key.(string)
		}
		if err := each(name); err != nil {
			return err
		}
		d.in.N = d.longest
	}
	if _, err = d.json.Token(); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return d.readable(err)
}

// readable returns a descriptive error if err is due to the length of a value, or else err.
func (d *Decoder) readable(err error) error {
	if err != nil && d.in.N <= 0 {
		return fmt.Errorf("a value is longer than %d bytes", d.longest)
	}
	return err
}
