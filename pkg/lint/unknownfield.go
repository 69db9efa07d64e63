package lint

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/typo"
)

// unknownFields reports errors of the strict decoder, which quote the paths of unknown fields, unless they have been
// reported. Where it is clear what was meant, it corrects the content and returns true.
func (r *review) unknownFields(root reflect.Type, content map[string]any, problems []error, reported map[string]bool) bool {
	changed := false
	for _, problem := range problems {
		if reported[problem.Error()] {
			continue
		}
		reported[problem.Error()] = true
		quoted, found := strings.CutPrefix(problem.Error(), "unknown field ")
		path, err := strconv.Unquote(quoted)
		if !found || err != nil {
			r.reject("not-readable", nil, "", "%s", problem)
			continue
		}
		changed = r.unknownField(root, content, path) || changed
	}
	return changed
}

// unknownField reports one of them, and corrects it if it can. The path is that of the strict decoder, such as
// spec.template.spec.containers[0].comand.
func (r *review) unknownField(root reflect.Type, content map[string]any, path string) bool {
	steps := strings.Split(path, ".")
	parents, wrong := steps[:len(steps)-1], steps[len(steps)-1]
	place, right := similarField(root, parents, wrong)
	if right == "" {
		r.reject("unknown-field", r.below(path), "correct the name, or remove it", "batch/v1 has no field %s", r.below(path))
		return false
	}
	from := objectAt(content, parents, false)
	meant, fix := right, "write "+right+", or remove it"
	if !slices.Equal(place, parents) {
		there := r.below(strings.Join(place, ".")).String()
		meant, fix = there+"."+right, "move it to "+there+", or remove it"
	}
	moved := move(from, wrong, objectAt(content, place, true), right)
	if !moved {
		fix = "remove it"
	}
	r.reject("unknown-field", r.below(path), fix, "batch/v1 has no field %s, did you mean %s", r.below(path), meant)
	return moved
}

// specs are where fields are often expected: the specs of a CronJob, its Jobs, and their pods.
var specs = [][]string{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}}

// similarField returns the field that the author of an unknown field probably meant, and the path of its object, or "".
func similarField(root reflect.Type, parents []string, wrong string) (place []string, name string) {
	least := max(len(wrong)/3, 1) + 1
	for _, p := range append([][]string{parents}, specs...) {
		for _, known := range slices.Sorted(maps.Keys(fieldsOf(typeAt(root, p)))) {
			if d := typo.Distance(strings.ToLower(wrong), strings.ToLower(known)); d < least {
				place, name, least = p, known, d
			}
		}
	}
	return place, name
}

// move moves a field, unless it would replace one.
func move(from map[string]any, wrong string, to map[string]any, right string) bool {
	if _, found := to[right]; found || from == nil || to == nil {
		return false
	}
	to[right] = from[wrong]
	delete(from, wrong)
	return true
}

// objectAt returns the object at a path, or nil. It makes those that are missing if asked to.
func objectAt(content map[string]any, path []string, create bool) map[string]any {
	for _, step := range path {
		name, index, isItem := strings.Cut(step, "[")
		value := content[name]
		if value == nil && create {
			value = map[string]any{}
			content[name] = value
		}
		if isItem {
			list, _ := value.([]any)
			i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err != nil || i < 0 || i >= len(list) {
				return nil
			}
			value = list[i]
		}
		if content, _ = value.(map[string]any); content == nil {
			return nil
		}
	}
	return content
}

// typeAt returns the type of the object at a path, or nil.
func typeAt(root reflect.Type, path []string) reflect.Type {
	for _, step := range path {
		name, _, _ := strings.Cut(step, "[")
		if root = fieldsOf(root)[name]; root == nil {
			return nil
		}
		for root.Kind() == reflect.Pointer || root.Kind() == reflect.Slice {
			root = root.Elem()
		}
	}
	return root
}

// fieldsOf returns the types of the fields of a struct, by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
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
