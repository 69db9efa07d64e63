package jobprinter

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// stalledField is a field of ours in a Job that is printed: an explain.Stall. The API server has no
// such field.
const stalledField = "stalled"

// WithStall returns the Job with the field; the Job itself, as the server sent it, for nil.
func WithStall(job *unstructured.Unstructured, stall *explain.Stall) (*unstructured.Unstructured, error) {
	if stall == nil {
		return job, nil
	}
	field, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stall)
	if err != nil {
		return nil, fmt.Errorf("noting that Job %s/%s is stalled: %w", job.GetNamespace(), job.GetName(), err)
	}
	marked := &unstructured.Unstructured{Object: maps.Clone(job.Object)}
	marked.Object[stalledField] = field
	return marked, nil
}

// stallOf is the value of the field, nil for none.
func stallOf(job *unstructured.Unstructured) *explain.Stall {
	field, is := job.Object[stalledField].(map[string]any)
	if !is {
		return nil
	}
	stall := &explain.Stall{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(field, stall) != nil {
		return nil
	}
	return stall
}
