package facts

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// HasSharedMemory reports whether a container of the Job's template has a volume at /dev/shm.
func (in *Facts) HasSharedMemory(name string) bool {
	c := in.TemplateContainer(name)
	return c != nil && slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return path.Clean(m.MountPath) == "/dev/shm" })
}

// othersRead is the mode of a file that all users may read, and bucketDrivers are the CSI drivers of buckets and shares.
const othersRead int32 = 0o004

var bucketDrivers = []string{"gcsfuse.csi.storage.gke.io", "s3.csi.aws.com", "blob.csi.azure.com", "file.csi.azure.com", "smb.csi.k8s.io"}

// NoteSource adds the kind of the source of a volume, and whether it can be written to.
func NoteSource(mount *meaning.Mount, v *corev1.Volume) {
	switch {
	case v.EmptyDir != nil:
		mount.Kind = "emptyDir"
	case v.NFS != nil:
		mount.Kind = "nfs"
	case v.ConfigMap != nil:
		mount.Kind, mount.ReadOnly = "ConfigMap "+v.ConfigMap.Name, true
	case v.Secret != nil:
		mount.Kind, mount.ReadOnly = "Secret "+v.Secret.SecretName, true
		mount.Private = ptr.Deref(v.Secret.DefaultMode, othersRead)&othersRead == 0
	case v.Projected != nil:
		mount.Kind, mount.ReadOnly = "projected", true
	case v.DownwardAPI != nil:
		mount.Kind, mount.ReadOnly = "downwardAPI", true
	case v.Image != nil:
		mount.Kind, mount.ReadOnly = "image", true
	case v.PersistentVolumeClaim != nil:
		mount.Kind = "claim " + v.PersistentVolumeClaim.ClaimName
		mount.ReadOnly = mount.ReadOnly || v.PersistentVolumeClaim.ReadOnly
	case v.CSI != nil:
		mount.Kind, mount.IsBucket = "CSI driver "+v.CSI.Driver, slices.Contains(bucketDrivers, v.CSI.Driver)
		mount.ReadOnly = mount.ReadOnly || ptr.Deref(v.CSI.ReadOnly, false)
	case v.HostPath != nil:
		mount.Kind, mount.Directory, mount.Type = "hostPath", v.HostPath.Path, string(ptr.Deref(v.HostPath.Type, ""))
	}
}

// Mounts returns the volumes of a container of the Job's template.
func (in *Facts) Mounts(name string) (all []meaning.Mount) {
	c := in.TemplateContainer(name)
	if c == nil {
		return nil
	}
	for _, m := range c.VolumeMounts {
		mount := meaning.Mount{Path: m.MountPath, Volume: m.Name, ReadOnly: m.ReadOnly, SubPath: m.SubPath != "" || m.SubPathExpr != "", Earlier: initsBefore(&in.Spec.Template.Spec, name, m.Name)}
		if at := slices.IndexFunc(in.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }); at >= 0 {
			NoteSource(&mount, &in.Spec.Template.Spec.Volumes[at])
		}
		all = append(all, mount)
	}
	return all
}

// initsBefore returns the init containers before a container of a pod template that have the volume, too.
func initsBefore(spec *corev1.PodSpec, container, volume string) (names []string) {
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if c.Name == container {
			break
		}
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume }) {
			names = append(names, c.Name)
		}
	}
	return names
}
