package mutations

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

//go:embed testdata/fields
var fields embed.FS

// FieldMutation is an object with one change of one value.
type FieldMutation struct {
	// Object is the changed object, and Name that of the original.
	Object map[string]any
	Name   string
	// Path is the changed value, such as spec.template.spec.containers[0].name; Kind is the change, such as "removed".
	Path, Kind string
}

// Place is the path without indexes and keys: the field of the API.
func (m FieldMutation) Place() string {
	var b strings.Builder
	depth := 0
	for _, c := range m.Path {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		default:
			if depth == 0 {
				b.WriteRune(c)
			}
		}
	}
	return b.String()
}

// WithAllFields returns Jobs and CronJobs that together have every field of the API.
func WithAllFields() ([]map[string]any, error) {
	data, err := fields.ReadFile("testdata/fields/jobs.yaml")
	if err != nil {
		return nil, err
	}
	var all []map[string]any
	decoder := yamlv3.NewDecoder(bytes.NewReader(data))
	for {
		var node yamlv3.Node
		if err := decoder.Decode(&node); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		text, err := yamlv3.Marshal(&node)
		if err != nil {
			return nil, err
		}
		object := map[string]any{}
		if err := yaml.Unmarshal(text, &object); err != nil {
			return nil, err
		}
		all = append(all, integers(object).(map[string]any))
	}
}

// integers replaces the floats of JSON that are integers, as an API server decodes them.
func integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = integers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return value
}

// change is a change of a value; it returns false if it does not apply.
type valueChange struct {
	kind string
	make func(value any) (any, bool)
}

// removed is the new value of a field that is removed.
type removed struct{}

func always(value any) func(any) (any, bool) { return func(any) (any, bool) { return value, true } }

func texts(to func(string) string) func(any) (any, bool) {
	return func(value any) (any, bool) {
		text, isText := value.(string)
		return to(text), isText
	}
}

func numbers(to func(int64) int64) func(any) (any, bool) {
	return func(value any) (any, bool) {
		number, isNumber := value.(int64)
		return to(number), isNumber
	}
}

func lists(to func([]any) []any) func(any) (any, bool) {
	return func(value any) (any, bool) {
		list, _ := value.([]any)
		if len(list) == 0 {
			return nil, false
		}
		return to(slices.Clone(list)), true
	}
}

func objects(to func(map[string]any)) func(any) (any, bool) {
	return func(value any) (any, bool) {
		object, isObject := value.(map[string]any)
		changed := maps.Clone(object)
		if isObject {
			to(changed)
		}
		return changed, isObject
	}
}

func fieldChanges() []valueChange {
	is := func(value string) func(any) (any, bool) { return texts(func(string) string { return value }) }
	return []valueChange{
		{"removed", always(removed{})},
		{"null", always(nil)},
		{"text", func(value any) (any, bool) { _, isText := value.(string); return "text", !isText }},
		{"number", func(value any) (any, bool) { _, isNumber := value.(int64); return int64(7), !isNumber }},
		{"empty", is("")},
		{"capitals and signs", is("A_b!")},
		{"a space", is("x y")},
		{"a path upward", is("../x")},
		{"an absolute path", is("/x")},
		{"too long", is(strings.Repeat("x", 300))},
		{"another word", is("other")},
		{"a dot at the end", texts(func(text string) string { return text + "." })},
		{"in lower case", texts(strings.ToLower)},
		{"misspelled", texts(func(text string) string { return text + "s" })},
		{"negative", numbers(func(int64) int64 { return -1 })},
		{"zero", numbers(func(int64) int64 { return 0 })},
		{"large", numbers(func(int64) int64 { return 1 << 20 })},
		{"too large", numbers(func(int64) int64 { return 1 << 40 })},
		{"more", numbers(func(n int64) int64 { return n + 1 })},
		{"not", func(value any) (any, bool) { b, isBool := value.(bool); return !b, isBool }},
		{"no items", lists(func([]any) []any { return []any{} })},
		{"an item twice", lists(func(list []any) []any { return append(list, runtime.DeepCopyJSONValue(list[0])) })},
		{"an empty item", lists(func(list []any) []any { return append(list, nil) })},
		{"no fields", objects(func(o map[string]any) { clear(o) })},
		{"an unknown field", objects(func(o map[string]any) { o["flavor"] = "sweet" })},
		{"a misspelled field", objects(func(o map[string]any) {
			for _, name := range slices.Sorted(maps.Keys(o)) {
				o[name[:len(name)-1]] = o[name]
				delete(o, name)
				return
			}
		})},
	}
}

// OfFields returns the mutations of every value of the objects.
func OfFields(originals []map[string]any) []FieldMutation {
	var all []FieldMutation
	for _, original := range originals {
		name := fmt.Sprint(original["metadata"].(map[string]any)["name"])
		walk(original, "", nil, func(path string, steps []any, value any) {
			for _, change := range fieldChanges() {
				if to, applies := change.make(value); applies {
					object := runtime.DeepCopyJSON(original)
					replace(object, steps, to)
					all = append(all, FieldMutation{Object: object, Name: name, Path: path, Kind: change.kind})
				}
			}
		})
	}
	return all
}

// walk visits all values below a value, but for those that every object has.
func walk(value any, path string, steps []any, visit func(path string, steps []any, value any)) {
	if path == "apiVersion" || path == "kind" {
		return
	}
	if path != "" {
		visit(path, steps, value)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner := path + "." + name
			if path == "" {
				inner = name
			} else if strings.ContainsAny(name, "./") {
				inner = path + "[" + name + "]"
			}
			walk(v[name], inner, append(slices.Clone(steps), name), visit)
		}
	case []any:
		for i := range v {
			walk(v[i], fmt.Sprintf("%s[%d]", path, i), append(slices.Clone(steps), i), visit)
		}
	}
}

// replace sets or removes the value that the steps lead to. A removed item of a list moves the later ones.
func replace(in any, steps []any, to any) any {
	_, remove := to.(removed)
	if len(steps) == 0 {
		return to
	}
	switch v := in.(type) {
	case map[string]any:
		name := steps[0].(string)
		if len(steps) == 1 && remove {
			delete(v, name)
		} else {
			v[name] = replace(v[name], steps[1:], to)
		}
	case []any:
		i := steps[0].(int)
		if len(steps) == 1 && remove {
			return slices.Delete(v, i, i+1)
		}
		v[i] = replace(v[i], steps[1:], to)
	}
	return in
}
