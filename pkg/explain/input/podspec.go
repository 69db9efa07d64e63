package input

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// MemoryLimit is the memory limit of a container in its pod. The zero value means no limit, or an unknown one.
type MemoryLimit struct {
	// Value is a quantity: "128Mi".
	Value string `json:"value"`
	// From is the source of the Value.
	From LimitSource `json:"from"`
	// Template is the limit in the Job's template, if it differs.
	Template string `json:"template,omitempty"`
}

// LimitSource is the source of a limit.
type LimitSource string

// The sources of a limit.
const (
	LimitOfTemplate   LimitSource = "Template"   // the container in the Job's template has the limit
	LimitOfLimitRange LimitSource = "LimitRange" // a LimitRange of the namespace set it in the pod
	LimitOfPod        LimitSource = "Pod"        // the container in the pod has the limit, the container in the template does not
	LimitOfAllOfPod   LimitSource = "PodLevel"   // all containers of the pod share it: spec.resources
	LimitOfNode       LimitSource = "Node"       // the container has none, so that it ran out of the memory of its node
)

// limitRangerAnnotation is the annotation in which the API server lists the values that a LimitRange set in a pod:
// "LimitRanger plugin set: cpu, memory limit for container main; memory request for container main".
const limitRangerAnnotation = "kubernetes.io/limit-ranger"

// addSpec adds the image and the memory limit of a container from the pod's spec and status.
func (c *Container) addSpec(pod *corev1.Pod, status *corev1.ContainerStatus) {
	spec := containerNamed(pod, c.Name)
	if spec == nil {
		return
	}
	c.Image = shared(cmp.Or(spec.Image, status.Image))
	switch limit := memoryOf(&spec.Resources); {
	case limit != "":
		c.Memory = MemoryLimit{Value: shared(limit), From: LimitOfPod}
		if setByLimitRange(pod.Annotations[limitRangerAnnotation], c.Name) {
			c.Memory.From = LimitOfLimitRange
		}
	case memoryOf(pod.Spec.Resources) != "":
		c.Memory = MemoryLimit{Value: shared(memoryOf(pod.Spec.Resources)), From: LimitOfAllOfPod}
	}
	// A resize in place changes the spec first, and the status once the kubelet has done it.
	if actual := memoryOf(status.Resources); actual != "" && c.Memory.From != LimitOfAllOfPod && actual != c.Memory.Value {
		c.Memory = MemoryLimit{Value: shared(actual), From: LimitOfPod}
	}
}

func containerNamed(pod *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// memoryOf returns the memory limit, "" if there is none.
func memoryOf(r *corev1.ResourceRequirements) string {
	if r == nil {
		return ""
	}
	limit, ok := r.Limits[corev1.ResourceMemory]
	if !ok {
		return ""
	}
	return limit.String()
}

// setByLimitRange reports whether the annotation says that a LimitRange set the memory limit of the container.
func setByLimitRange(annotation, container string) bool {
	_, list, _ := strings.Cut(annotation, ": ")
	for part := range strings.SplitSeq(list, "; ") {
		what, who, _ := strings.Cut(part, " limit for ")
		_, name, _ := strings.Cut(who, "container ") // "container main" or "init container main".
		for resource := range strings.SplitSeq(what, ", ") {
			if resource == string(corev1.ResourceMemory) && name == container {
				return true
			}
		}
	}
	return false
}

// ClaimNames returns the names of the PersistentVolumeClaims of a pod's volumes, in the order of the spec, without
// duplicates. The claim of an ephemeral volume is named after the pod.
func ClaimNames(spec *corev1.PodSpec, pod string) (names []string) {
	for i := range spec.Volumes {
		name := ""
		switch v := &spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = pod + "-" + v.Name
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
