package input

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// DroppedField is a field that kubectl applied to an object and that the object lacks: an API server drops fields that the definition of
// the object's kind does not have.
type DroppedField struct {
	// Path is the field in the schema, without list elements, such as spec.replicatedJobs.dependsOn.
	Path string `json:"path"`
	// Of are the names of the list elements that lack it, empty for a field that is in no list.
	Of []string `json:"of,omitempty"`
}

// Dropped returns the fields of the spec in the annotation of kubectl apply that the object lacks.
func Dropped(object map[string]any) []DroppedField {
	text, _, _ := unstructured.NestedString(object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	var applied map[string]any
	if text == "" || json.Unmarshal([]byte(text), &applied) != nil {
		return nil
	}
	var d dropped
	d.compare(applied["spec"], object["spec"], "spec", "")
	return d
}

// dropped collects fields, each path once.
type dropped []DroppedField

// compare adds the fields of an applied value that the actual one lacks. Of two lists of named elements, those with the same name are
// compared; of is the name of the element that the values are in.
func (d *dropped) compare(applied, actual any, path, of string) {
	switch applied := applied.(type) {
	case map[string]any:
		actual, is := actual.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(applied)) {
			switch value, has := actual[key]; {
			case has:
				d.compare(applied[key], value, path+"."+key, of)
			case is && !isEmpty(applied[key]):
				d.add(path+"."+key, of)
			}
		}
	case []any:
		actual, _ := actual.([]any)
		for _, x := range applied {
			name := nameOf(x)
			if at := slices.IndexFunc(actual, func(y any) bool { return nameOf(y) == name }); name != "" && at >= 0 {
				d.compare(x, actual[at], path, name)
			}
		}
	}
}

func (d *dropped) add(path, of string) {
	at := slices.IndexFunc(*d, func(f DroppedField) bool { return f.Path == path })
	if at < 0 {
		at, *d = len(*d), append(*d, DroppedField{Path: path})
	}
	if of != "" {
		(*d)[at].Of = append((*d)[at].Of, of)
	}
}

// isEmpty reports whether the API server may leave out the value.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return value == nil || value == "" || value == false || value == 0.0
}

// nameOf returns the name of a list element, "" if it has none.
func nameOf(element any) string {
	fields, _ := element.(map[string]any)
	name, _ := fields["name"].(string)
	return name
}
