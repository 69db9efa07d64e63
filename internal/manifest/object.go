package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/typo"
)

// Object is one Kubernetes object of the input.
type Object struct {
	// Content is the object as an API server would decode it: JSON types only, with int64 and float64 for numbers.
	Content map[string]any

	document *document
	node     *yaml.Node
}

// FromContent returns an object that was not read from a manifest; its errors name source.
func FromContent(source string, content map[string]any) *Object {
	return &Object{Content: content, document: &document{file: source}}
}

// Copy returns a copy whose content can be changed.
func (o *Object) Copy() *Object { return &Object{runtime.DeepCopyJSON(o.Content), o.document, o.node} }

// Kind returns the object's kind, such as Job.
func (o *Object) Kind() string { return textOf(o.Content["kind"]) }

// APIVersion returns the object's API group and version, such as batch/v1.
func (o *Object) APIVersion() string { return textOf(o.Content["apiVersion"]) }

// Name returns metadata.name; "" if it is missing.
func (o *Object) Name() string { return textOf(o.metadata()["name"]) }

// Namespace returns metadata.namespace; "" if it is missing.
func (o *Object) Namespace() string { return textOf(o.metadata()["namespace"]) }

func (o *Object) metadata() map[string]any { return fieldsOf(o.Content["metadata"]) }

// Errorf returns an *Error for the field at path, see Position.
func (o *Object) Errorf(path, format string, args ...any) *Error {
	return &Error{Position: o.Position(path), Problem: fmt.Sprintf(format, args...)}
}

func textOf(value any) string {
	s, _ := value.(string)
	return s
}

// fieldsOf returns the fields of an object, or nil if the value is not an object.
func fieldsOf(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

// flatten expands lists: v1 List, JobList, and any other kind that ends in List and has items.
func flatten(o *Object) ([]*Object, []error) {
	for _, name := range [...]string{"apiVersion", "kind"} {
		if textOf(o.Content[name]) == "" {
			problem := o.missingField(name)
			if o.node == o.document.root {
				problem.Content = o.Content
			}
			return nil, []error{problem}
		}
	}
	kind, isList := strings.CutSuffix(o.Kind(), "List")
	items, hasItems := o.Content["items"].([]any)
	if !isList || !hasItems && o.Content["items"] != nil {
		return []*Object{o}, nil
	}
	var objects []*Object
	var problems []error
	_, list := findChild(o.node, "items")
	for i, item := range items {
		node := o.node
		if _, found := findChild(list, strconv.Itoa(i)); found != nil {
			node = found
		}
		content, ok := item.(map[string]any)
		if !ok {
			problems = append(problems, &Error{Position: o.document.positionOf(node), Problem: "not a Kubernetes object"})
			continue
		}
		// An API server omits these fields in its lists, except in a List itself.
		if kind != "" && content["kind"] == nil && content["apiVersion"] == nil {
			content["apiVersion"], content["kind"] = o.APIVersion(), kind
		}
		found, bad := flatten(&Object{Content: content, document: o.document, node: node})
		objects, problems = append(objects, found...), append(problems, bad...)
	}
	return objects, problems
}

// missingField returns the error for an object without apiVersion or kind.
func (o *Object) missingField(name string) *Error {
	if value := o.Content[name]; value != nil {
		return o.Errorf(name, "not a Kubernetes object: %s is not text", name)
	}
	for _, key := range slices.Sorted(maps.Keys(o.Content)) {
		if typo.Distance(strings.ToLower(strings.ReplaceAll(key, "_", "")), strings.ToLower(name)) <= 2 {
			return o.Errorf("["+key+"]", "not a Kubernetes object: it has no %s, but %s", name, key)
		}
	}
	return o.Errorf("", "not a Kubernetes object: it has no %s", name)
}
