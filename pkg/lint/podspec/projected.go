package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The range of the lifetime of a service account token.
const (
	minTokenSeconds = 10 * 60
	maxTokenSeconds = 1 << 32
)

// checkProjected checks a volume that combines several sources.
func checkProjected(volume *corev1.ProjectedVolumeSource, path *field.Path) (found problems) {
	for i := range volume.Sources {
		source, at := &volume.Sources[i], path.Child("sources").Index(i)
		if s := source.Secret; s != nil {
			found = append(found, checkProjectedName(s.Name, at.Child("secret", "name"))...)
			found = append(found, checkItems(s.Items, at.Child("secret", "items"))...)
		}
		if s := source.ConfigMap; s != nil {
			found = append(found, checkProjectedName(s.Name, at.Child("configMap", "name"))...)
			found = append(found, checkItems(s.Items, at.Child("configMap", "items"))...)
		}
		if s := source.DownwardAPI; s != nil {
			found = append(found, checkDownward(s.Items, at.Child("downwardAPI", "items"))...)
		}
		if s := source.ServiceAccountToken; s != nil {
			found = append(found, checkToken(s, at.Child("serviceAccountToken"))...)
		}
	}
	return found
}

func checkProjectedName(name string, path *field.Path) (found problems) {
	if name == "" {
		found.add("volume-incomplete", path, "add it", "the source has no name")
	}
	return found
}

func checkToken(token *corev1.ServiceAccountTokenProjection, path *field.Path) (found problems) {
	if token.Path == "" {
		found.add("volume-incomplete", path.Child("path"), "add it", "the token has no path")
	} else {
		found = append(found, checkRelative("volume-incomplete", token.Path, path.Child("path"))...)
	}
	if seconds := token.ExpirationSeconds; seconds != nil && (*seconds < minTokenSeconds || *seconds > maxTokenSeconds) {
		found.add("token-expiration-invalid", path.Child("expirationSeconds"), "use 600 or more", "expirationSeconds is %d", *seconds)
	}
	return found
}

// checkDownward checks files that contain fields of the pod.
func checkDownward(items []corev1.DownwardAPIVolumeFile, path *field.Path) (found problems) {
	for i := range items {
		item, at := &items[i], path.Index(i)
		if item.Path == "" {
			found.add("volume-incomplete", at.Child("path"), "add it", "the item has no path")
		} else {
			found = append(found, checkRelative("volume-incomplete", item.Path, at.Child("path"))...)
		}
		if item.FieldRef != nil && item.FieldRef.FieldPath == "" {
			found.add("field-ref-invalid", at.Child("fieldRef", "fieldPath"), "add it, such as metadata.labels", "the item has no fieldPath")
		}
		found = append(found, checkMode(item.Mode, at.Child("mode"))...)
	}
	return found
}

// checkPodSecurity checks the user, the groups and the profile that containers inherit.
func checkPodSecurity(context *corev1.PodSecurityContext, path *field.Path) problems {
	found := checkIDs(context.RunAsUser, context.RunAsGroup, path)
	if group := context.FSGroup; group != nil && len(validation.IsValidGroupID(*group)) > 0 {
		found.add("user-id-invalid", path.Child("fsGroup"), "use 0 to 2147483647", "fsGroup is %d", *group)
	}
	found = append(found, checkSeccomp(context.SeccompProfile, path.Child("seccompProfile"))...)
	return found
}

func checkSeccomp(profile *corev1.SeccompProfile, path *field.Path) (found problems) {
	if profile != nil && profile.Type == "" {
		found.add("seccomp-without-type", path.Child("type"), "use RuntimeDefault, Unconfined or Localhost", "seccompProfile has no type")
	}
	return found
}
