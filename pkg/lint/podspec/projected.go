package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// tokenSeconds are how long a token of a service account may be valid.
const (
	minTokenSeconds = 10 * 60
	maxTokenSeconds = 1 << 32
)

// projected checks a volume that joins several sources.
func (c *checker) projected(volume *corev1.ProjectedVolumeSource, path *field.Path) {
	for i := range volume.Sources {
		source, at := &volume.Sources[i], path.Child("sources").Index(i)
		if s := source.Secret; s != nil {
			c.projectedName(s.Name, at.Child("secret", "name"))
			c.items(s.Items, at.Child("secret", "items"))
		}
		if s := source.ConfigMap; s != nil {
			c.projectedName(s.Name, at.Child("configMap", "name"))
			c.items(s.Items, at.Child("configMap", "items"))
		}
		if s := source.DownwardAPI; s != nil {
			c.downward(s.Items, at.Child("downwardAPI", "items"))
		}
		if s := source.ServiceAccountToken; s != nil {
			c.token(s, at.Child("serviceAccountToken"))
		}
	}
}

func (c *checker) projectedName(name string, path *field.Path) {
	if name == "" {
		c.add("volume-incomplete", path, "add it", "the source has no name")
	}
}

func (c *checker) token(token *corev1.ServiceAccountTokenProjection, path *field.Path) {
	if token.Path == "" {
		c.add("volume-incomplete", path.Child("path"), "add it", "the token has no path")
	} else {
		c.relative("volume-incomplete", token.Path, path.Child("path"))
	}
	if seconds := token.ExpirationSeconds; seconds != nil && (*seconds < minTokenSeconds || *seconds > maxTokenSeconds) {
		c.add("token-expiration-invalid", path.Child("expirationSeconds"), "use 600 or more", "expirationSeconds is %d", *seconds)
	}
}

// downward checks files with fields of the pod.
func (c *checker) downward(items []corev1.DownwardAPIVolumeFile, path *field.Path) {
	for i := range items {
		item, at := &items[i], path.Index(i)
		if item.Path == "" {
			c.add("volume-incomplete", at.Child("path"), "add it", "the item has no path")
		} else {
			c.relative("volume-incomplete", item.Path, at.Child("path"))
		}
		if item.FieldRef != nil && item.FieldRef.FieldPath == "" {
			c.add("field-ref-invalid", at.Child("fieldRef", "fieldPath"), "add it, such as metadata.labels", "the item has no fieldPath")
		}
		c.mode(item.Mode, at.Child("mode"))
	}
}

// claim checks the storage that an ephemeral volume claims.
func (c *checker) claim(template *corev1.PersistentVolumeClaimTemplate, path *field.Path) {
	if storage, found := template.Spec.Resources.Requests[corev1.ResourceStorage]; found && storage.Sign() <= 0 {
		c.add("resource-negative", path.Child("spec", "resources", "requests").Key("storage"), "use more than 0", "the storage is %s", &storage)
	}
}

// podSecurity checks the user, the groups and the profile that containers inherit.
func (c *checker) podSecurity(context *corev1.PodSecurityContext, path *field.Path) {
	c.ids(context.RunAsUser, context.RunAsGroup, path)
	if group := context.FSGroup; group != nil && len(validation.IsValidGroupID(*group)) > 0 {
		c.add("user-id-invalid", path.Child("fsGroup"), "use 0 to 2147483647", "fsGroup is %d", *group)
	}
	c.seccomp(context.SeccompProfile, path.Child("seccompProfile"))
}

func (c *checker) seccomp(profile *corev1.SeccompProfile, path *field.Path) {
	if profile != nil && profile.Type == "" {
		c.add("seccomp-without-type", path.Child("type"), "use RuntimeDefault, Unconfined or Localhost", "seccompProfile has no type")
	}
}
