package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/phrase"
)

func checkEnv(found *problems, vars []corev1.EnvVar, path *field.Path) {
	for i := range vars {
		v, at := &vars[i], path.Index(i)
		switch {
		case v.Name == "":
			found.add("env-without-name", at.Child("name"), "add a name", "the variable has no name")
		case len(validation.IsRelaxedEnvVarName(v.Name)) > 0:
			found.add("env-name-invalid", at.Child("name"), "use printable ASCII characters other than '='", "the name of variable %q is not allowed", shorten(v.Name))
		}
		if v.ValueFrom != nil {
			checkValueFrom(found, v, at.Child("valueFrom"))
		}
	}
}

func checkValueFrom(found *problems, v *corev1.EnvVar, path *field.Path) {
	from := v.ValueFrom
	var sources []string
	for _, source := range []struct {
		name string
		set  bool
	}{
		{"fieldRef", from.FieldRef != nil},
		{"resourceFieldRef", from.ResourceFieldRef != nil},
		{"configMapKeyRef", from.ConfigMapKeyRef != nil},
		{"secretKeyRef", from.SecretKeyRef != nil},
		{"fileKeyRef", from.FileKeyRef != nil},
	} {
		if source.set {
			sources = append(sources, source.name)
		}
	}
	switch {
	case len(sources) == 0:
		found.add("env-source-missing", path, "add secretKeyRef, configMapKeyRef, fieldRef or resourceFieldRef", "valueFrom of %q is empty", shorten(v.Name))
	case v.Value != "":
		found.add("env-value-and-source", path, "remove value or valueFrom", "variable %q has both value and valueFrom", shorten(v.Name))
	case len(sources) > 1:
		found.add("env-two-sources", path.Child(sources[1]), "remove one of them", "variable %q already has its value from %s", shorten(v.Name), sources[0])
	}
	if ref := from.ConfigMapKeyRef; ref != nil {
		checkKeyRef(found, ref.Name, ref.Key, path.Child("configMapKeyRef"))
	}
	if ref := from.SecretKeyRef; ref != nil {
		checkKeyRef(found, ref.Name, ref.Key, path.Child("secretKeyRef"))
	}
	if from.FieldRef != nil {
		checkFieldRef(found, from.FieldRef, path.Child("fieldRef"))
	}
	if from.ResourceFieldRef != nil {
		checkResourceFieldRef(found, from.ResourceFieldRef, path.Child("resourceFieldRef"))
	}
}

// checkKeyRef checks a reference to a key of a ConfigMap or a Secret.
func checkKeyRef(found *problems, name, key string, path *field.Path) {
	checkObjectName(found, name, path.Child("name"))
	switch {
	case key == "":
		found.add("env-source-incomplete", path.Child("key"), "add the key", "%s needs a key", phrase.Last(path))
	case len(validation.IsConfigMapKey(key)) > 0:
		found.add("env-source-incomplete", path.Child("key"), "use letters, digits, '-', '_' and '.'", "there cannot be a key %q", shorten(key))
	}
}

// checkObjectName checks the name of a ConfigMap, a Secret, or most other kinds of objects.
func checkObjectName(found *problems, name string, path *field.Path) {
	switch {
	case name == "":
		found.add("reference-without-name", path, "add the name", "the reference has no name")
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		found.add("reference-name-invalid", path, "use lowercase letters, digits, '-' and '.'", "no object can have the name %q", shorten(name))
	}
}

func checkFieldRef(found *problems, ref *corev1.ObjectFieldSelector, path *field.Path) {
	text := ref.FieldPath
	fields := []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
		"spec.host", // the former name of spec.nodeName
	}
	if slices.Contains(fields, text) {
		return
	}
	name, key, hasKey := strings.Cut(text, "['")
	key, closed := strings.CutSuffix(key, "']")
	if hasKey && closed && (name == "metadata.labels" || name == "metadata.annotations") {
		if len(validation.IsQualifiedName(strings.ToLower(key))) > 0 {
			found.add("field-ref-invalid", path.Child("fieldPath"), keyFix, "%q cannot be the key of a label or annotation", shorten(key))
		}
		return
	}
	found.add("field-ref-invalid", path.Child("fieldPath"), "use one of: "+strings.Join(fields[:9], ", ")+", metadata.labels['KEY'], metadata.annotations['KEY']",
		"the value of a variable cannot come from the field %q", shorten(text))
}

func checkResourceFieldRef(found *problems, ref *corev1.ResourceFieldSelector, path *field.Path) {
	kind, resource, _ := strings.Cut(ref.Resource, ".")
	known := resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" || strings.HasPrefix(resource, "hugepages-")
	if (kind != "limits" && kind != "requests") || !known {
		found.add("field-ref-invalid", path.Child("resource"), "use limits or requests of cpu, memory or ephemeral-storage, such as limits.memory",
			"the value of a variable cannot come from the resource %q", shorten(ref.Resource))
	}
}

func checkEnvFrom(found *problems, sources []corev1.EnvFromSource, path *field.Path) {
	for i := range sources {
		source, at := &sources[i], path.Index(i)
		switch {
		case source.ConfigMapRef == nil && source.SecretRef == nil:
			found.add("env-source-missing", at, "add configMapRef or secretRef", "the item of envFrom is empty")
		case source.ConfigMapRef != nil && source.SecretRef != nil:
			found.add("env-two-sources", at.Child("secretRef"), "make it two items", "the item of envFrom already has configMapRef")
		}
		if source.ConfigMapRef != nil {
			checkObjectName(found, source.ConfigMapRef.Name, at.Child("configMapRef", "name"))
		}
		if source.SecretRef != nil {
			checkObjectName(found, source.SecretRef.Name, at.Child("secretRef", "name"))
		}
		if source.Prefix != "" && len(validation.IsRelaxedEnvVarName(source.Prefix)) > 0 {
			found.add("env-name-invalid", at.Child("prefix"), "use printable ASCII characters other than '='", "the prefix %q is not allowed", shorten(source.Prefix))
		}
	}
}
