package lint

import (
	"reflect"
	"strings"
)

// similarField returns the field of root's schema that the author of an unknown field probably meant, or "". The path is
// that of the strict decoder, such as spec.template.spec.containers[0].comand.
func similarField(root reflect.Type, path string) string {
	steps := strings.Split(path, ".")
	parent := root
	for _, step := range steps[:len(steps)-1] {
		name, _, _ := strings.Cut(step, "[")
		if parent = fieldsOf(parent)[name]; parent == nil {
			return ""
		}
		for parent.Kind() == reflect.Pointer || parent.Kind() == reflect.Slice {
			parent = parent.Elem()
		}
	}
	wrong := steps[len(steps)-1]
	best, least := "", max(len(wrong)/3, 1)+1
	for name := range fieldsOf(parent) {
		d := editDistance(strings.ToLower(wrong), strings.ToLower(name))
		if d < least || d == least && best != "" && name < best {
			best, least = name, d
		}
	}
	return best
}

// fieldsOf returns the types of the fields of a struct, by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if t.Kind() != reflect.Struct {
		return nil
	}
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && strings.Contains(options, "inline") {
			for inlined, of := range fieldsOf(f.Type) {
				fields[inlined] = of
			}
			continue
		}
		fields[name] = f.Type
	}
	return fields
}

// editDistance returns how many letters must be inserted, removed or replaced to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
