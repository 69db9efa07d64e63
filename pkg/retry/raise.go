package retry

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// OutOfMemory is a container that ran out of memory. Limit is the limit that it had, "" for none; AllOfPod reports whether
// all containers of the pod share it.
type OutOfMemory struct {
	Container string
	Limit     string
	AllOfPod  bool
}

// RaisedMemory is a memory limit that was raised; Container is "" for the limit of the whole pod.
type RaisedMemory struct {
	Container     string
	Old, New, Cap resource.Quantity
}

// MemoryError is the reason why memory is not raised.
type MemoryError struct {
	Kind MemoryErrorKind
	// Container is "" for the whole pod; Limit and Cap are set if the limit is at the cap.
	Container  string
	Limit, Cap resource.Quantity
}

// MemoryErrorKind is the kind of a MemoryError.
type MemoryErrorKind string

// The kinds of errors.
const (
	MemoryAtCap    MemoryErrorKind = "AtCap"         // the limit is not below the cap
	MemoryNoLimit  MemoryErrorKind = "NoLimit"       // the container had no limit, so the node ran out of memory
	MemoryNotOfJob MemoryErrorKind = "NotInTemplate" // the container is not in the Job's template
)

func (e *MemoryError) Error() string { return "memory of " + e.Container + ": " + string(e.Kind) }

// RaiseMemory raises the memory limits of the containers in the Job, and their requests in the same ratio. The first Job of
// the family has the first limit, of which the default cap is a multiple. The error is a *MemoryError.
func RaiseMemory(job *unstructured.Unstructured, family Family, killed []OutOfMemory, by *MemoryRaise) ([]RaisedMemory, error) {
	var raised []RaisedMemory
	for _, k := range highestLimits(killed) {
		podSpec, _, _ := unstructured.NestedMap(job.Object, "spec", "template", "spec") // a copy
		owner := podSpec
		if k.Container != "" {
			owner = containerNamed(podSpec, k.Container)
		}
		if owner == nil {
			return nil, &MemoryError{Kind: MemoryNotOfJob, Container: k.Container}
		}
		change, err := raise(owner, k, family, by)
		if err != nil {
			return nil, err
		}
		raised = append(raised, *change)
		if err := unstructured.SetNestedMap(job.Object, podSpec, "spec", "template", "spec"); err != nil {
			return nil, err
		}
	}
	return raised, nil
}

// highestLimits returns each container once, with its highest limit; a container that shares the limit of its pod is "".
func highestLimits(killed []OutOfMemory) []OutOfMemory {
	var out []OutOfMemory
	for _, k := range killed {
		if k.AllOfPod {
			k.Container = ""
		}
		i := slices.IndexFunc(out, func(o OutOfMemory) bool { return o.Container == k.Container })
		switch {
		case i < 0:
			out = append(out, k)
		case k.Limit != "":
			if limit, highest := quantityOf(k.Limit), quantityOf(out[i].Limit); limit.Cmp(highest) > 0 {
				out[i] = k
			}
		}
	}
	return out
}

// raise raises the limit and the request in the resources of owner, a container or the spec of a pod.
func raise(owner map[string]any, k OutOfMemory, family Family, by *MemoryRaise) (*RaisedMemory, error) {
	ownLimit, limited := memoryIn(owner, "limits")
	if k.Limit == "" && !limited {
		return nil, &MemoryError{Kind: MemoryNoLimit, Container: k.Container}
	}
	old := quantityOf(k.Limit)
	if ownLimit.Cmp(old) > 0 { // The Job that is retried has more already.
		old = ownLimit
	}
	first := firstLimit(family, k.Container, old)
	next, raised := by.Next(old, first)
	if !raised {
		return nil, &MemoryError{Kind: MemoryAtCap, Container: k.Container, Limit: old, Cap: by.CapOf(first)}
	}
	base := old
	if limited {
		base = ownLimit
	}
	if request, found := memoryIn(owner, "requests"); found {
		setMemory(owner, "requests", requestFor(request, base, next))
	}
	setMemory(owner, "limits", next)
	return &RaisedMemory{Container: k.Container, Old: old, New: next, Cap: by.CapOf(first)}, nil
}

// firstLimit returns the limit of a container, or of the whole pod with "", in the first Job that has one; old if none has.
func firstLimit(family Family, container string, old resource.Quantity) resource.Quantity {
	for _, job := range family {
		if limit, found := limitIn(job, container); found {
			return limit
		}
	}
	return old
}

func limitIn(job *batchv1.Job, container string) (limit resource.Quantity, found bool) {
	spec := &job.Spec.Template.Spec
	if container == "" && spec.Resources != nil {
		limit, found = spec.Resources.Limits[corev1.ResourceMemory]
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if container != "" && c.Name == container {
			limit, found = c.Resources.Limits[corev1.ResourceMemory]
		}
	}
	return limit, found
}

func containerNamed(podSpec map[string]any, name string) map[string]any {
	for _, list := range []string{"containers", "initContainers"} {
		items, _ := podSpec[list].([]any)
		for _, item := range items {
			if c, _ := item.(map[string]any); c != nil && c["name"] == name {
				return c
			}
		}
	}
	return nil
}

func memoryIn(owner map[string]any, list string) (resource.Quantity, bool) {
	value, found, err := unstructured.NestedFieldNoCopy(owner, "resources", list, "memory")
	return quantityOf(fmt.Sprint(value)), found && err == nil
}

func setMemory(owner map[string]any, list string, q resource.Quantity) {
	_ = unstructured.SetNestedField(owner, q.String(), "resources", list, "memory") // resources is always an object
}

// quantityOf returns a quantity of the API, zero for any other text.
func quantityOf(text string) resource.Quantity {
	q, _ := resource.ParseQuantity(text)
	return q
}
