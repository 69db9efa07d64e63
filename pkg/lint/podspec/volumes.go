package podspec

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
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

func checkVolumes(volumes []corev1.Volume, path *field.Path) (found problems) {
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
		found = append(found, checkVolumeSource(&volumes[i].VolumeSource, at)...)
	}
	return found
}

// checkVolumeSource checks the source of a volume; without one, the volume is an emptyDir.
func checkVolumeSource(source *corev1.VolumeSource, path *field.Path) (found problems) {
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
	found = append(found, checkVolumeFiles(source, path)...)
	return found
}

// checkVolumeFiles checks the keys and modes of files in the volume.
func checkVolumeFiles(source *corev1.VolumeSource, path *field.Path) (found problems) {
	switch {
	case source.ConfigMap != nil:
		found = append(found, checkMode(source.ConfigMap.DefaultMode, path.Child("configMap", "defaultMode"))...)
		found = append(found, checkItems(source.ConfigMap.Items, path.Child("configMap", "items"))...)
	case source.Secret != nil:
		found = append(found, checkMode(source.Secret.DefaultMode, path.Child("secret", "defaultMode"))...)
		found = append(found, checkItems(source.Secret.Items, path.Child("secret", "items"))...)
	case source.Projected != nil:
		found = append(found, checkMode(source.Projected.DefaultMode, path.Child("projected", "defaultMode"))...)
		found = append(found, checkProjected(source.Projected, path.Child("projected"))...)
	case source.DownwardAPI != nil:
		found = append(found, checkMode(source.DownwardAPI.DefaultMode, path.Child("downwardAPI", "defaultMode"))...)
		found = append(found, checkDownward(source.DownwardAPI.Items, path.Child("downwardAPI", "items"))...)
	case source.Ephemeral != nil && source.Ephemeral.VolumeClaimTemplate != nil:
		requests, at := source.Ephemeral.VolumeClaimTemplate.Spec.Resources.Requests, path.Child("ephemeral", "volumeClaimTemplate", "spec", "resources", "requests")
		if storage, set := requests[corev1.ResourceStorage]; set && storage.Sign() <= 0 {
			found.add("resource-negative", at.Key("storage"), "use more than 0", "the storage is %s", &storage)
		}
	}
	return found
}

func checkMode(mode *int32, path *field.Path) (found problems) {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		found.add("file-mode-invalid", path, "write it as an octal number, such as 0644, or 420 in JSON", "the file mode %d is not between 0 and 0777 (511)", *mode)
	}
	return found
}

func checkItems(items []corev1.KeyToPath, path *field.Path) (found problems) {
	for i := range items {
		at := path.Index(i)
		if items[i].Key == "" {
			found.add("volume-incomplete", at.Child("key"), "add it", "the item has no key")
		}
		if items[i].Path == "" {
			found.add("volume-incomplete", at.Child("path"), "add it", "the item has no path")
		} else {
			found = append(found, checkRelative("volume-incomplete", items[i].Path, at.Child("path"))...)
		}
		found = append(found, checkMode(items[i].Mode, at.Child("mode"))...)
	}
	return found
}

// checkRelative checks a path inside a volume.
func checkRelative(id, text string, path *field.Path) (found problems) {
	switch {
	case strings.HasPrefix(text, "/"):
		found.add(id, path, "remove the '/' at the beginning", "%q must be a relative path", shorten(text))
	case slices.Contains(strings.Split(text, "/"), ".."):
		found.add(id, path, "write a path without ..", "%q must not contain ..", shorten(text))
	}
	return found
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
func checkMounts(container *corev1.Container, path *field.Path, volumes []string) (found problems) {
	seen := map[string]string{} // mount paths, and the volumes there
	for i := range container.VolumeMounts {
		mount, at := &container.VolumeMounts[i], path.Child("volumeMounts").Index(i)
		found = append(found, checkVolumeRef(mount.Name, at.Child("name"), volumes)...)
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
			found = append(found, checkRelative("mount-sub-path-invalid", mount.SubPath, at.Child("subPath"))...)
		case mount.SubPathExpr != "":
			found = append(found, checkRelative("mount-sub-path-invalid", mount.SubPathExpr, at.Child("subPathExpr"))...)
		}
	}
	for i, device := range container.VolumeDevices {
		found = append(found, checkVolumeRef(device.Name, path.Child("volumeDevices").Index(i).Child("name"), volumes)...)
	}
	return found
}

func checkVolumeRef(name string, path *field.Path, volumes []string) (found problems) {
	if slices.Contains(volumes, name) && name != "" {
		return found
	}
	fix := "add it to the volumes of the pod template"
	if len(volumes) > 0 {
		fix += ", or write one of: " + shorten(strings.Join(volumes, ", "))
	}
	found.add("mount-without-volume", path, fix, "the pod template has no volume %q", shorten(name))
	return found
}
