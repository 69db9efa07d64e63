package schema

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// kind is the JSON form of a value.
type kind int

const (
	anything   kind = iota
	object          // with known fields
	dictionary      // with any keys
	list
	text
	integer
	number
	boolean
	quantity
	intOrText
	moment
)

// Schema describes the valid values of a type.
type Schema struct {
	kind kind
	// fields are the fields of an object by JSON name; names are the JSON names, sorted.
	fields map[string]*Schema
	names  []string
	// elem is the Schema of the items of a list, or of the values of a dictionary.
	elem *Schema
	// bits is the size of an integer.
	bits int
	// allowed are the valid values of a text, nil if the API does not enumerate them.
	allowed []string
}

// special are the types with their own JSON decoding.
var special = map[reflect.Type]kind{
	reflect.TypeFor[resource.Quantity]():  quantity,
	reflect.TypeFor[intstr.IntOrString](): intOrText,
	reflect.TypeFor[metav1.Time]():        moment,
	reflect.TypeFor[metav1.MicroTime]():   moment,
	reflect.TypeFor[metav1.FieldsV1]():    anything,
}

// Of returns the Schema of a Go type of the Kubernetes API.
func Of(t reflect.Type) *Schema { return compiler{}.schema(t) }

// compiler holds the Schemas of types, so that recursion ends at a type that contains itself.
type compiler map[reflect.Type]*Schema

func (c compiler) schema(t reflect.Type) *Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known := c[t]; known != nil {
		return known
	}
	s := &Schema{}
	c[t] = s
	if k, found := special[t]; found {
		s.kind = k
		return s
	}
	switch t.Kind() {
	case reflect.Struct:
		s.kind, s.fields = object, c.fields(t)
		s.names = slices.Sorted(maps.Keys(s.fields))
	case reflect.Map:
		s.kind, s.elem = dictionary, c.schema(t.Elem())
	case reflect.Slice:
		s.kind, s.elem = list, c.schema(t.Elem())
		if t.Elem().Kind() == reflect.Uint8 { // base64
			s.kind, s.elem = text, nil
		}
	case reflect.String:
		s.kind, s.allowed = text, enums[t]
	case reflect.Int, reflect.Int32, reflect.Int64:
		s.kind, s.bits = integer, t.Bits()
	case reflect.Float64:
		s.kind = number
	case reflect.Bool:
		s.kind = boolean
	}
	return s
}

func (c compiler) fields(t reflect.Type) map[string]*Schema {
	fields := map[string]*Schema{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous:
			maps.Copy(fields, c.fields(f.Type))
		case name != "" && name != "-":
			fields[name] = c.schema(f.Type)
		}
	}
	return fields
}

// String returns the kind of value in words for users.
func (s *Schema) String() string {
	switch s.kind {
	case object, dictionary:
		return "an object"
	case list:
		return "a list"
	case integer:
		return "an integer"
	case number:
		return "a number"
	case boolean:
		return "true or false"
	case quantity:
		return "a quantity, such as 500m or 2Gi"
	case intOrText:
		return "an integer or text"
	case moment:
		return `a time, such as "2026-01-31T15:04:05Z"`
	}
	return "text"
}
