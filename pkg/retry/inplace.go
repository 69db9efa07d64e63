package retry

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// RaiseAnnotation is on a Job that is suspended until its memory is raised in place. It holds the InPlace, so that another call
// can continue: suspending a Job deletes pods that show how much memory their containers had.
const RaiseAnnotation = "batchjob.dev/raise-memory"

// InPlace is the memory that a Job that has not finished gets (KEP-5440), in two writes: SuspendPatch, and FinishPatch once no pod is
// active. The stored Job shows which of them is next.
type InPlace struct {
	// Memory has the new limit and request of containers, by name.
	Memory map[string]ContainerMemory `json:"memory"`
	// Resume is false for a Job that was suspended before, and stays so.
	Resume bool `json:"resume,omitempty"`
}

// ContainerMemory is the memory of a container; Request is "" if it has none.
type ContainerMemory struct {
	Limit   string `json:"limit"`
	Request string `json:"request,omitempty"`
}

// NewInPlace returns the InPlace that gives a Job the memory in changed, a copy of it.
func NewInPlace(changed *unstructured.Unstructured, raised []RaisedMemory) *InPlace {
	suspended, _, _ := unstructured.NestedBool(changed.Object, "spec", "suspend")
	p := &InPlace{Memory: map[string]ContainerMemory{}, Resume: !suspended}
	podSpec, _, _ := unstructured.NestedMap(changed.Object, "spec", "template", "spec")
	for _, r := range raised {
		memory := ContainerMemory{Limit: r.New.String()}
		if request, found := memoryIn(containerNamed(podSpec, r.Container), "requests"); found {
			memory.Request = request.String()
		}
		p.Memory[r.Container] = memory
	}
	return p
}

// StoredInPlace returns the InPlace of the Job's annotation, nil if it has none. A value that is not one is an error.
func StoredInPlace(annotations map[string]string) (*InPlace, error) {
	text, found := annotations[RaiseAnnotation]
	if !found {
		return nil, nil
	}
	p := &InPlace{}
	if err := json.Unmarshal([]byte(text), p); err != nil || !p.isValid() {
		return nil, fmt.Errorf("annotation %s is not readable", RaiseAnnotation)
	}
	return p, nil
}

func (p *InPlace) isValid() bool {
	for _, memory := range p.Memory {
		if !isQuantity(memory.Limit) || memory.Request != "" && !isQuantity(memory.Request) {
			return false
		}
	}
	return len(p.Memory) > 0
}

func isQuantity(text string) bool {
	_, err := resource.ParseQuantity(text)
	return err == nil
}

// SuspendPatch returns the merge patch that suspends the Job with this UID, and stores the InPlace.
func (p *InPlace) SuspendPatch(uid types.UID) []byte {
	return mustMarshal(map[string]any{
		"metadata": map[string]any{"uid": uid, "annotations": map[string]string{RaiseAnnotation: string(mustMarshal(p))}},
		"spec":     map[string]any{"suspend": true},
	})
}

// IsIn reports whether the Job has the memory.
func (p *InPlace) IsIn(job *unstructured.Unstructured) bool {
	for name, memory := range p.Memory {
		_, container := containerAt(job, name)
		if limit, found := memoryIn(container, "limits"); !found || limit.Cmp(quantityOf(memory.Limit)) != 0 {
			return false
		}
	}
	return true
}

// FinishPatch returns the JSON patch that raises the memory of the Job, resumes it, and removes the InPlace, all at once. It fails
// for another Job, if the InPlace is no longer stored, or if the Job was resumed or has other resources by then.
func (p *InPlace) FinishPatch(job *unstructured.Unstructured) ([]byte, error) {
	patch := p.tests(job)
	for _, name := range slices.Sorted(maps.Keys(p.Memory)) {
		path, container := containerAt(job, name)
		if container == nil {
			return nil, &MemoryError{Kind: MemoryNotOfJob, Container: name}
		}
		resources, _, _ := unstructured.NestedMap(container, "resources")
		if resources == nil {
			resources = map[string]any{}
		}
		owner := map[string]any{"resources": resources}
		memory := p.Memory[name]
		setMemory(owner, "limits", quantityOf(memory.Limit))
		if memory.Request != "" {
			setMemory(owner, "requests", quantityOf(memory.Request))
		}
		patch = append(patch, jsonOperation{"add", path + "/resources", owner["resources"]})
	}
	return mustMarshal(append(patch, p.end()...)), nil
}

// AbandonPatch returns the JSON patch that resumes the Job with its old memory, and removes the InPlace.
func (p *InPlace) AbandonPatch(job *unstructured.Unstructured) []byte {
	return mustMarshal(append(p.tests(job), p.end()...))
}

// jsonOperation is an operation of RFC 6902.
type jsonOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// raisePath is the path of RaiseAnnotation, escaped by RFC 6901.
var raisePath = "/metadata/annotations/" + strings.ReplaceAll(RaiseAnnotation, "/", "~1")

// tests are the operations that fail if the Job has changed in what the InPlace relies on.
func (p *InPlace) tests(job *unstructured.Unstructured) []jsonOperation {
	all := []jsonOperation{
		{"test", "/metadata/uid", job.GetUID()}, {"test", raisePath, job.GetAnnotations()[RaiseAnnotation]}, {"test", "/spec/suspend", true},
	}
	for _, name := range slices.Sorted(maps.Keys(p.Memory)) {
		path, container := containerAt(job, name)
		if container == nil {
			continue
		}
		all = append(all, jsonOperation{"test", path + "/name", name})
		if resources := container["resources"]; resources != nil {
			all = append(all, jsonOperation{"test", path + "/resources", resources})
		}
	}
	return all
}

func (p *InPlace) end() []jsonOperation {
	all := []jsonOperation{{"remove", raisePath, nil}}
	if p.Resume {
		all = append(all, jsonOperation{"replace", "/spec/suspend", false})
	}
	return all
}

// containerAt returns the path of a container in the Job, nil if it has none of this name.
func containerAt(job *unstructured.Unstructured, name string) (string, map[string]any) {
	for _, list := range []string{"containers", "initContainers"} {
		items, _, _ := unstructured.NestedSlice(job.Object, "spec", "template", "spec", list)
		for i, item := range items {
			if c, _ := item.(map[string]any); c != nil && c["name"] == name {
				return fmt.Sprintf("/spec/template/spec/%s/%d", list, i), c
			}
		}
	}
	return "", nil
}
