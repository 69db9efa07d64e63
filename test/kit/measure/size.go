package measure

import "reflect"

// Sizes of Go's maps (package internal/runtime/maps): a header, and groups of slots with a control byte each. Keys and elements
// that are larger than mapInline are allocated one by one. A map with more elements than a group has slots has at most 16/7
// slots for each of them.
const (
	mapHeader = 48
	mapGroup  = 8
	mapInline = 128
)

// Size returns an upper bound of the bytes on the heap that are kept alive by the values: by everything that they point to, also
// in unexported fields, each allocation once, as the allocator rounds it up. Variables that functions enclose, the elements of
// channels, the room that maps keep for deleted elements, the rest of a text of which only a part is kept, and package testing's
// values, which other goroutines change, do not count.
func Size(values ...any) int64 {
	s := sizer{seen: map[allocation]bool{}}
	for _, value := range values {
		s.contents(reflect.ValueOf(value))
	}
	return s.bytes
}

// allocation identifies an allocation: a struct and its first field have the same address.
type allocation struct {
	address uintptr
	kind    reflect.Type
}

// sizer adds up the sizes of allocations.
type sizer struct {
	seen  map[allocation]bool
	bytes int64
}

// isNew adds up an allocation, and reports whether it is seen for the first time.
func (s *sizer) isNew(a allocation, size int64) bool {
	if s.seen[a] {
		return false
	}
	s.seen[a] = true
	s.bytes += rounded(size)
	return true
}

// contents adds up everything that a value points to. The caller has added up the value itself.
func (s *sizer) contents(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if elem := v.Type().Elem(); !v.IsNil() && elem.PkgPath() != "testing" && s.isNew(allocation{v.Pointer(), elem}, int64(elem.Size())) {
			s.contents(v.Elem())
		}
	case reflect.Interface:
		if v = v.Elem(); v.IsValid() {
			if v.Kind() != reflect.Pointer { // A pointer is in the interface itself.
				s.bytes += rounded(int64(v.Type().Size()))
			}
			s.contents(v)
		}
	case reflect.String:
		s.isNew(allocation{v.Pointer(), reflect.TypeFor[string]()}, int64(v.Len()))
	case reflect.Slice:
		if s.isNew(allocation{v.Pointer(), v.Type()}, int64(v.Cap())*int64(v.Type().Elem().Size())) {
			s.elements(v)
		}
	case reflect.Array:
		s.elements(v)
	case reflect.Struct:
		for i := range v.NumField() {
			s.contents(v.Field(i))
		}
	case reflect.Map:
		s.table(v)
	}
}

// elements adds up what the elements of a slice or array point to.
func (s *sizer) elements(v reflect.Value) {
	switch v.Type().Elem().Kind() {
	case reflect.Pointer, reflect.Interface, reflect.String, reflect.Slice, reflect.Array, reflect.Struct, reflect.Map:
		for i := range v.Len() {
			s.contents(v.Index(i))
		}
	}
}

// table adds up a map.
func (s *sizer) table(v reflect.Value) {
	if v.IsNil() || !s.isNew(allocation{v.Pointer(), v.Type()}, mapHeader) || v.Len() == 0 {
		return
	}
	slots := int64(mapGroup)
	if v.Len() > mapGroup {
		slots = (int64(v.Len())*16 + 6) / 7
	}
	slot, extra := int64(1), int64(0) // The control byte.
	for _, t := range []reflect.Type{v.Type().Key(), v.Type().Elem()} {
		size := int64(t.Size())
		if size > mapInline {
			extra += rounded(size)
			size = int64(reflect.TypeFor[uintptr]().Size())
		}
		slot += size
	}
	s.bytes += rounded(slots*slot) + int64(v.Len())*extra
	for all := v.MapRange(); all.Next(); {
		s.contents(all.Key())
		s.contents(all.Value())
	}
}

// rounded returns the size of the allocation for so many bytes. One of more than 512 bytes has a header of 8.
func rounded(size int64) int64 {
	if size > 512 {
		size += 8
	}
	return int64(cap(append([]byte(nil), make([]byte, size)...)))
}
