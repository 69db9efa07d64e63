package jobprinter

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Fields that this program adds to a printed Job: two of explain.Stall, and an explain.Why. The API server has no such
// fields.
const (
	stalledField = "stalled"
	refusedField = "refused"
	whyField     = "why"
)

// Marked returns the Job with the stall and the causes of failures from the outline; if there are none, the Job
// itself, as the server sent it.
func Marked(job *unstructured.Unstructured, o *explain.Outline) (*unstructured.Unstructured, error) {
	marked := job
	for _, mark := range []struct {
		field string
		value any
		isSet bool
	}{{stalledField, o.Stalled, o.Stalled != nil}, {refusedField, o.Refused, o.Refused != nil}, {whyField, o.Why, o.Why != nil}} {
		if !mark.isSet {
			continue
		}
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(mark.value)
		if err != nil {
			return nil, fmt.Errorf("marking Job %s/%s as %s: %w", job.GetNamespace(), job.GetName(), mark.field, err)
		}
		if marked == job {
			marked = &unstructured.Unstructured{Object: maps.Clone(job.Object)}
		}
		marked.Object[mark.field] = object
	}
	return marked, nil
}

// whyOf returns the value of the field, nil if there is none.
func whyOf(job *unstructured.Unstructured) *explain.Why {
	return valueOf[explain.Why](job, whyField)
}

// valueOf returns the value of a field, or nil if the object lacks it.
func valueOf[T any](job *unstructured.Unstructured, field string) *T {
	object, is := job.Object[field].(map[string]any)
	if !is {
		return nil
	}
	value := new(T)
	if runtime.DefaultUnstructuredConverter.FromUnstructured(object, value) != nil {
		return nil
	}
	return value
}
