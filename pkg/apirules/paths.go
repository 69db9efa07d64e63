package apirules

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// prefixed returns the paths below a path.
func prefixed(prefix, paths string) string {
	var b strings.Builder
	for _, path := range strings.Fields(paths) {
		b.WriteString(strings.TrimSuffix(prefix+path, ".") + " ")
	}
	return b.String()
}

func inVolumes(paths string) string { return prefixed("volumes[].", paths) }

// handlers returns the path below all probes and hooks.
func handlers(path string) string {
	return prefixed("containers[].livenessProbe|readinessProbe|startupProbe.", path) + prefixed("containers[].lifecycle.postStart|preStop.", path)
}

// files returns the path below all items of ConfigMaps and Secrets in volumes.
func files(path string) string {
	return "configMap|secret.items[]." + path + " projected.sources[].configMap|secret.items[]." + path + " "
}

// downward returns the path below all files with fields of the pod; "" for the files.
func downward(path string) string {
	return strings.TrimSuffix("downwardAPI.items[]."+path, ".") + " " + strings.TrimSuffix("projected.sources[].downwardAPI.items[]."+path, ".") + " "
}

// nodeTerms returns the path below all required terms of nodeAffinity.
func nodeTerms(path string) string {
	return "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[]." + path
}

// nodeExpressions returns the path below all matchExpressions of nodeAffinity.
func nodeExpressions(path string) string {
	return nodeTerms("matchExpressions[]") + path + " affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].preference.matchExpressions[]" + path
}

// podTerms returns the path below all terms of podAffinity and podAntiAffinity.
func podTerms(path string) string {
	const of = "affinity.podAffinity|podAntiAffinity."
	return of + "requiredDuringSchedulingIgnoredDuringExecution[]" + path + " " + of + "preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm" + path + " "
}

// volumeTypes returns the names of the fields that choose the type of a volume.
func volumeTypes() []string {
	var names []string
	for f := range reflect.TypeFor[corev1.VolumeSource]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func isIP(text string) []string {
	if len(validation.IsValidIP(nil, text)) > 0 {
		return []string{"not an address"}
	}
	return nil
}

// absent rejects a field that is not allowed, for this reason.
func absent(message string) check {
	return func(v *value) (string, string) {
		if isEmpty(v.is) {
			return "", ""
		}
		return message, "remove it"
	}
}
