package apirules

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func checkResources(found *Problems, spec *corev1.PodSpec, r *corev1.ResourceRequirements, path *field.Path) {
	limits, requests := path.Child("limits"), path.Child("requests")
	for _, name := range slices.Sorted(maps.Keys(r.Limits)) {
		checkQuantity(found, name, r.Limits[name], limits.Key(string(name)))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request, at := r.Requests[name], requests.Key(string(name))
		checkQuantity(found, name, request, at)
		limit, limited := r.Limits[name]
		switch {
		case !limited && !isNative(name):
			found.add("request-without-limit", at, "write it under limits, too, or only there", "%s needs a limit: nodes do not overcommit it", shorten(string(name)))
		case limited && !isNative(name) && request.Cmp(limit) != 0:
			found.add("request-differs-from-limit", at, "use the same number", "the request of %s, %s, must be equal to the limit, %s", shorten(string(name)), &request, &limit)
		case limited && request.Cmp(limit) > 0:
			found.add("request-above-limit", at, "lower the request, or raise the limit", "the request of %s, %s, is above the limit, %s", shorten(string(name)), &request, &limit)
		}
	}
	for i, claim := range r.Claims {
		if !slices.ContainsFunc(spec.ResourceClaims, func(of corev1.PodResourceClaim) bool { return of.Name == claim.Name }) {
			found.add("claim-unknown", path.Child("claims").Index(i).Child("name"), "add it to resourceClaims of the pod template", "the pod template has no resource claim %q", shorten(claim.Name))
		}
	}
}

// checkPodResources checks the resources of the pod itself, which are for all of its containers together.
func checkPodResources(found *Problems, spec *corev1.PodSpec, path *field.Path) {
	if spec.Resources == nil {
		return
	}
	for _, list := range []struct {
		name string
		is   corev1.ResourceList
	}{{"limits", spec.Resources.Limits}, {"requests", spec.Resources.Requests}} {
		for _, name := range slices.Sorted(maps.Keys(list.is)) {
			value, at := list.is[name], path.Child(list.name).Key(string(name))
			limit, limited := spec.Resources.Limits[name]
			switch least := aggregate(spec, name); {
			case name != corev1.ResourceCPU && name != corev1.ResourceMemory && !isHugePages(name):
				found.add("resource-unknown", at, "move it to the resources of a container", "pods have no resource %q, only containers", shorten(string(name)))
			case value.Sign() < 0:
				found.add("resource-negative", at, "use 0 or more", "%s is %s", shorten(string(name)), &value)
			case list.name == "requests" && limited && value.Cmp(limit) > 0:
				found.add("request-above-limit", at, "lower the request, or raise the limit", "the request of %s, %s, is above the limit, %s", shorten(string(name)), &value, &limit)
			case list.name == "requests" && least.Cmp(value) > 0:
				found.add("request-above-limit", at, "raise it", "the pod requests %s of %s, but its containers %s", &value, shorten(string(name)), &least)
			}
		}
	}
	if len(spec.Resources.Claims) > 0 {
		found.add("claim-unknown", path.Child("claims"), "move them to the resources of a container", "pods have no resource claims here")
	}
}

// aggregate returns what the containers and sidecars request together.
func aggregate(spec *corev1.PodSpec, name corev1.ResourceName) resource.Quantity {
	var total resource.Quantity
	for i := range spec.Containers {
		total.Add(spec.Containers[i].Resources.Requests[name])
	}
	for i := range spec.InitContainers {
		if IsSidecar(&spec.InitContainers[i]) {
			total.Add(spec.InitContainers[i].Resources.Requests[name])
		}
	}
	return total
}

// isNative reports whether Kubernetes itself defines the resource, and nodes overcommit it.
func isNative(name corev1.ResourceName) bool {
	return (!strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)) && !isHugePages(name)
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func checkQuantity(found *Problems, name corev1.ResourceName, value resource.Quantity, path *field.Path) {
	text := shorten(string(name))
	switch {
	case !isResource(name):
		found.add("resource-unknown", path, "use cpu, memory, ephemeral-storage, or a name with a domain, such as nvidia.com/gpu", "containers have no resource %q", text)
	case value.Sign() < 0:
		found.add("resource-negative", path, "use 0 or more", "%s is %s", text, &value)
	case !isNative(name) && !isHugePages(name) && value.MilliValue()%1000 != 0:
		found.add("resource-not-whole", path, "use a whole number", "%s is %s, but it cannot be divided", text, &value)
	}
}

// isResource reports whether a container may have a resource of this name.
func isResource(name corev1.ResourceName) bool {
	if len(validation.IsQualifiedName(string(name))) > 0 {
		return false
	}
	if strings.Contains(string(name), "/") {
		return isNative(name) || !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
	}
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || isHugePages(name)
}
