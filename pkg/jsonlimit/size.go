package jsonlimit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// Sizes in memory: a string without its bytes, an interface, a slice without its elements, and a map without its slots.
const (
	sizeOfString    = 16
	sizeOfInterface = 16
	sizeOfSlice     = 24
	sizeOfMap       = 96
	// mapSlots is how many slots are allocated for the first elements of a map.
	mapSlots = 8
)

// sizeOf returns an upper bound of the memory, in bytes, that data uses when decoded into a t. Above limit it stops early,
// and returns more than limit. data must be valid JSON as returned by Decoder.Raw, which also bounds its depth.
func sizeOf(t reflect.Type, data []byte, limit int64) int64 {
	m := &meter{data: data, limit: limit, spent: int64(t.Size())}
	m.measureValue(t)
	return m.spent
}

// meter walks through JSON and the type that it is decoded into. The type is nil for a field that is not decoded.
type meter struct {
	data  []byte
	at    int
	limit int64
	spent int64
}

// measureValue walks over one value. The caller has counted the size of t itself.
func (m *meter) measureValue(t reflect.Type) {
	m.skipSpace()
	for t != nil && t.Kind() == reflect.Pointer && m.data[m.at] != 'n' {
		t = t.Elem()
		m.spent += int64(t.Size())
	}
	start := m.at
	switch m.data[m.at] {
	case '{':
		m.measureObject(decodedType(t))
	case '[':
		m.measureArray(decodedType(t))
	case '"':
		m.skipText()
	default: // a number, true, false or null
		m.at += len(m.data[m.at:]) - len(bytes.TrimLeft(m.data[m.at:], "+-.0123456789Eaeflnrstu"))
	}
	if t != nil && (m.data[start] == '"' || decodedType(t) == nil) {
		m.spent += int64(m.at-start) + sizeOfString
	}
}

func (m *meter) measureObject(t reflect.Type) {
	of := func(string) reflect.Type { return t }
	var slot int64
	switch {
	case t == nil:
	case t.Kind() == reflect.Struct:
		fields := fieldsOf(t)
		of = func(name string) reflect.Type { return fields[foldName(name)] }
	case t.Kind() == reflect.Map:
		slot = int64(t.Key().Size() + t.Elem().Size())
		of = func(string) reflect.Type { return t.Elem() }
	default: // an interface: the decoder refuses an object for any other type
		slot = sizeOfString + sizeOfInterface
	}
	if slot > 0 {
		m.spent += sizeOfMap
	}
	m.eachMember(func(n int64) {
		m.skipSpace()
		name := m.readName()
		if slot > 0 {
			m.spent += int64(len(name)) + newSlots(n, mapSlots, 3)*slot
		}
		m.skipSpace()
		m.at++ // the colon
		m.measureValue(of(name))
	})
}

func (m *meter) measureArray(t reflect.Type) {
	elem, size := t, int64(sizeOfInterface)
	switch {
	case t == nil:
		size = 0
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		elem, size = t.Elem(), int64(t.Elem().Size())
	default: // an interface
		m.spent += sizeOfSlice
	}
	m.eachMember(func(n int64) {
		m.spent += newSlots(n, 1, 2) * size
		m.measureValue(elem)
	})
}

// newSlots returns the number of slots that member n adds: the first member allocates several, and growing allocates more than
// is needed.
func newSlots(n, first, more int64) int64 {
	switch {
	case n == 0:
		return first
	case n < first:
		return 0
	}
	return more
}

// eachMember walks over an object or array, and calls member with the number of each member, at its start.
func (m *meter) eachMember(member func(n int64)) {
	m.at++
	n := int64(0)
	for m.skipSpace(); m.data[m.at] != '}' && m.data[m.at] != ']'; m.skipSpace() {
		if m.data[m.at] == ',' {
			m.at++
		}
		if member(n); m.spent > m.limit {
			m.at = len(m.data) // The rest is skipped.
		}
		if m.at >= len(m.data) {
			return
		}
		n++
	}
	m.at++
}

// skipText walks over a string.
func (m *meter) skipText() {
	for m.at++; m.data[m.at] != '"'; m.at++ {
		if m.data[m.at] == '\\' {
			m.at++
		}
	}
	m.at++
}

// readName walks over the name of a member, and returns it.
func (m *meter) readName() (name string) {
	start := m.at
	m.skipText()
	quoted := m.data[start:m.at]
	if !bytes.ContainsFunc(quoted, func(r rune) bool { return r == '\\' || r >= utf8.RuneSelf }) {
		return string(quoted[1 : len(quoted)-1])
	}
	_ = json.Unmarshal(quoted, &name) // It is valid.
	return name
}

func (m *meter) skipSpace() {
	for m.at < len(m.data) && strings.IndexByte(" \t\r\n", m.data[m.at]) >= 0 {
		m.at++
	}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// decodedType returns t, or nil if t decodes itself: then the length of the JSON is the estimate.
func decodedType(t reflect.Type) reflect.Type {
	if t == nil || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	return t
}

// foldName maps names that the decoder treats as equal to the same string: it ignores case, also of "ſ".
func foldName(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// fields caches the types of the fields of structs, by their names in JSON.
var fields sync.Map

func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if all, ok := fields.Load(t); ok {
		return all.(map[string]reflect.Type)
	}
	all := map[string]reflect.Type{}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		all[foldName(name)] = field.Type
	}
	fields.Store(t, all)
	return all
}
