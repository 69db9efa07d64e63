package podspec

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The range of the lifetime of a service account token.
const (
	minTokenSeconds = 10 * 60
	maxTokenSeconds = 1 << 32
)

const labelFix = "use at most 63 lowercase letters, digits and '-', with no '-' at the beginning or end"

// volumeNames returns the valid volume names for mounts.
func volumeNames(volumes []corev1.Volume, added []string) []string {
	names := slices.Clone(added)
	for i := range volumes {
		names = append(names, volumes[i].Name)
	}
	return names
}

func checkVolumes(found *problems, volumes []corev1.Volume, path *field.Path) {
	seen := map[string]bool{}
	for i := range volumes {
		name, at := volumes[i].Name, path.Index(i)
		switch {
		case name == "":
			found.add("volume-without-name", at.Child("name"), "add a name", "the volume has no name")
		case len(validation.IsDNS1123Label(name)) > 0:
			found.add("volume-name-invalid", at.Child("name"), labelFix, "the volume name %q is not allowed", shorten(name))
		case seen[name]:
			found.add("volume-name-twice", at.Child("name"), "give each volume its own name", "there is already a volume %q", shorten(name))
		}
		seen[name] = true
		checkVolumeSource(found, &volumes[i].VolumeSource, at)
	}
}

// checkVolumeSource checks the source of a volume; without one, the volume is an emptyDir.
func checkVolumeSource(found *problems, source *corev1.VolumeSource, path *field.Path) {
	if types := sourceTypes(source); len(types) > 1 {
		found.add("volume-of-two-types", path.Child(types[1]), "make it two volumes", "the volume already has the type %s", types[0])
	}
	for _, required := range []struct {
		set         bool
		field, name string
		value       func() string
	}{
		{source.ConfigMap != nil, "configMap", "name", func() string { return source.ConfigMap.Name }},
		{source.Secret != nil, "secret", "secretName", func() string { return source.Secret.SecretName }},
		{source.PersistentVolumeClaim != nil, "persistentVolumeClaim", "claimName", func() string { return source.PersistentVolumeClaim.ClaimName }},
		{source.HostPath != nil, "hostPath", "path", func() string { return source.HostPath.Path }},
		{source.NFS != nil, "nfs", "server", func() string { return source.NFS.Server }},
		{source.NFS != nil, "nfs", "path", func() string { return source.NFS.Path }},
		{source.CSI != nil, "csi", "driver", func() string { return source.CSI.Driver }},
	} {
		if required.set && required.value() == "" {
			found.add("volume-incomplete", path.Child(required.field, required.name), "add it", "%s needs %s", required.field, required.name)
		}
	}
	if source.Ephemeral != nil && source.Ephemeral.VolumeClaimTemplate == nil {
		found.add("volume-incomplete", path.Child("ephemeral", "volumeClaimTemplate"), "add it", "ephemeral needs volumeClaimTemplate")
	}
	if limit := source.EmptyDir; limit != nil && limit.SizeLimit != nil && limit.SizeLimit.Sign() < 0 {
		found.add("volume-incomplete", path.Child("emptyDir", "sizeLimit"), "use 0 or more", "sizeLimit is %s", limit.SizeLimit)
	}
	checkVolumeFiles(found, source, path)
}

// checkVolumeFiles checks the keys and modes of files in the volume.
func checkVolumeFiles(found *problems, source *corev1.VolumeSource, path *field.Path) {
	switch {
	case source.ConfigMap != nil:
		checkMode(found, source.ConfigMap.DefaultMode, path.Child("configMap", "defaultMode"))
		checkItems(found, source.ConfigMap.Items, path.Child("configMap", "items"))
	case source.Secret != nil:
		checkMode(found, source.Secret.DefaultMode, path.Child("secret", "defaultMode"))
		checkItems(found, source.Secret.Items, path.Child("secret", "items"))
	case source.Projected != nil:
		checkMode(found, source.Projected.DefaultMode, path.Child("projected", "defaultMode"))
		checkProjected(found, source.Projected, path.Child("projected"))
	case source.DownwardAPI != nil:
		checkMode(found, source.DownwardAPI.DefaultMode, path.Child("downwardAPI", "defaultMode"))
		checkDownward(found, source.DownwardAPI.Items, path.Child("downwardAPI", "items"))
	case source.Ephemeral != nil && source.Ephemeral.VolumeClaimTemplate != nil:
		requests, at := source.Ephemeral.VolumeClaimTemplate.Spec.Resources.Requests, path.Child("ephemeral", "volumeClaimTemplate", "spec", "resources", "requests")
		if storage, set := requests[corev1.ResourceStorage]; set && storage.Sign() <= 0 {
			found.add("resource-negative", at.Key("storage"), "use more than 0", "the storage is %s", &storage)
		}
	}
}

func checkMode(found *problems, mode *int32, path *field.Path) {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		found.add("file-mode-invalid", path, "write it as an octal number, such as 0644, or 420 in JSON", "the file mode %d is not between 0 and 0777 (511)", *mode)
	}
}

func checkItems(found *problems, items []corev1.KeyToPath, path *field.Path) {
	for i := range items {
		at := path.Index(i)
		if items[i].Key == "" {
			found.add("volume-incomplete", at.Child("key"), "add it", "the item has no key")
		}
		checkFilePath(found, "item", items[i].Path, at.Child("path"))
		checkMode(found, items[i].Mode, at.Child("mode"))
	}
}

// checkFilePath checks the path of a file in a volume, which is required.
func checkFilePath(found *problems, what, text string, path *field.Path) {
	if text == "" {
		found.add("volume-incomplete", path, "add it", "the %s has no path", what)
	}
	checkRelative(found, "volume-incomplete", text, path)
}

// checkRelative checks a path inside a volume; an empty one is valid.
func checkRelative(found *problems, id, text string, path *field.Path) {
	switch {
	case strings.HasPrefix(text, "/"):
		found.add(id, path, "remove the '/' at the beginning", "%q must be a relative path", shorten(text))
	case slices.Contains(strings.Split(text, "/"), ".."):
		found.add(id, path, "write a path without ..", "%q must not contain ..", shorten(text))
	}
}

// sourceTypes returns the JSON names of the fields of the source that are set.
func sourceTypes(source *corev1.VolumeSource) []string {
	var types []string
	value := reflect.ValueOf(source).Elem()
	for i := range value.NumField() {
		if value.Field(i).Kind() == reflect.Pointer && !value.Field(i).IsNil() {
			name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			types = append(types, name)
		}
	}
	return types
}

// checkMounts checks the volumeMounts of a container.
func checkMounts(found *problems, container *corev1.Container, path *field.Path, volumes []string) {
	seen := map[string]string{} // mount paths, and the volumes there
	for i := range container.VolumeMounts {
		mount, at := &container.VolumeMounts[i], path.Child("volumeMounts").Index(i)
		checkVolumeRef(found, mount.Name, at.Child("name"), volumes)
		first, again := seen[mount.MountPath]
		switch {
		case mount.MountPath == "":
			found.add("mount-without-path", at.Child("mountPath"), "add mountPath, where the container sees the volume", "the mount of volume %q has no mountPath", shorten(mount.Name))
		case again:
			found.add("mount-path-twice", at.Child("mountPath"), "mount one of them elsewhere", "volume %q is already mounted at %s", shorten(first), shorten(mount.MountPath))
		}
		seen[mount.MountPath] = mount.Name
		switch {
		case mount.SubPath != "" && mount.SubPathExpr != "":
			found.add("mount-sub-path-invalid", at.Child("subPathExpr"), "remove one of them", "a mount cannot have both subPath and subPathExpr")
		case mount.SubPath != "":
			checkRelative(found, "mount-sub-path-invalid", mount.SubPath, at.Child("subPath"))
		case mount.SubPathExpr != "":
			checkRelative(found, "mount-sub-path-invalid", mount.SubPathExpr, at.Child("subPathExpr"))
		}
	}
	for i, device := range container.VolumeDevices {
		checkVolumeRef(found, device.Name, path.Child("volumeDevices").Index(i).Child("name"), volumes)
	}
}

func checkVolumeRef(found *problems, name string, path *field.Path, volumes []string) {
	if slices.Contains(volumes, name) && name != "" {
		return
	}
	fix := "add it to the volumes of the pod template"
	if len(volumes) > 0 {
		fix += ", or write one of: " + shorten(strings.Join(volumes, ", "))
	}
	found.add("mount-without-volume", path, fix, "the pod template has no volume %q", shorten(name))
}

// checkProjected checks a volume that combines several sources.
func checkProjected(found *problems, volume *corev1.ProjectedVolumeSource, path *field.Path) {
	for i := range volume.Sources {
		source, at := &volume.Sources[i], path.Child("sources").Index(i)
		if s := source.Secret; s != nil {
			checkProjectedName(found, s.Name, at.Child("secret", "name"))
			checkItems(found, s.Items, at.Child("secret", "items"))
		}
		if s := source.ConfigMap; s != nil {
			checkProjectedName(found, s.Name, at.Child("configMap", "name"))
			checkItems(found, s.Items, at.Child("configMap", "items"))
		}
		if s := source.DownwardAPI; s != nil {
			checkDownward(found, s.Items, at.Child("downwardAPI", "items"))
		}
		if s := source.ServiceAccountToken; s != nil {
			checkToken(found, s, at.Child("serviceAccountToken"))
		}
	}
}

func checkProjectedName(found *problems, name string, path *field.Path) {
	if name == "" {
		found.add("volume-incomplete", path, "add it", "the source has no name")
	}
}

func checkToken(found *problems, token *corev1.ServiceAccountTokenProjection, path *field.Path) {
	checkFilePath(found, "token", token.Path, path.Child("path"))
	if seconds := token.ExpirationSeconds; seconds != nil && (*seconds < minTokenSeconds || *seconds > maxTokenSeconds) {
		found.add("token-expiration-invalid", path.Child("expirationSeconds"), "use 600 or more", "expirationSeconds is %d", *seconds)
	}
}

// checkDownward checks files that contain fields of the pod.
func checkDownward(found *problems, items []corev1.DownwardAPIVolumeFile, path *field.Path) {
	for i := range items {
		item, at := &items[i], path.Index(i)
		checkFilePath(found, "item", item.Path, at.Child("path"))
		if item.FieldRef != nil && item.FieldRef.FieldPath == "" {
			found.add("field-ref-invalid", at.Child("fieldRef", "fieldPath"), "add it, such as metadata.labels", "the item has no fieldPath")
		}
		checkMode(found, item.Mode, at.Child("mode"))
	}
}

// checkPodSecurity checks the user, the groups and the profile that containers inherit.
func checkPodSecurity(found *problems, context *corev1.PodSecurityContext, path *field.Path) {
	checkIDs(found, context.RunAsUser, context.RunAsGroup, path)
	if group := context.FSGroup; group != nil && len(validation.IsValidGroupID(*group)) > 0 {
		found.add("user-id-invalid", path.Child("fsGroup"), "use 0 to 2147483647", "fsGroup is %d", *group)
	}
	checkSeccomp(found, context.SeccompProfile, path.Child("seccompProfile"))
}

func checkSeccomp(found *problems, profile *corev1.SeccompProfile, path *field.Path) {
	if profile != nil && profile.Type == "" {
		found.add("seccomp-without-type", path.Child("type"), "use RuntimeDefault, Unconfined or Localhost", "seccompProfile has no type")
	}
}
