package schema

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// enums are the values that the API server accepts for string types, except for types that packages lint and podspec
// check.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[corev1.MountPropagationMode]():        of(corev1.MountPropagationNone, corev1.MountPropagationHostToContainer, corev1.MountPropagationBidirectional),
	reflect.TypeFor[corev1.PersistentVolumeAccessMode]():  of(corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod),
	reflect.TypeFor[corev1.PersistentVolumeMode]():        of(corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem),
	reflect.TypeFor[corev1.PreemptionPolicy]():            of(corev1.PreemptLowerPriority, corev1.PreemptNever),
	reflect.TypeFor[corev1.NodeInclusionPolicy]():         of(corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore),
	reflect.TypeFor[corev1.SeccompProfileType]():          of(corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined, corev1.SeccompProfileTypeLocalhost),
	reflect.TypeFor[corev1.AppArmorProfileType]():         of(corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined, corev1.AppArmorProfileTypeLocalhost),
	reflect.TypeFor[corev1.ProcMountType]():               of(corev1.DefaultProcMount, corev1.UnmaskedProcMount),
	reflect.TypeFor[corev1.PodFSGroupChangePolicy]():      of(corev1.FSGroupChangeOnRootMismatch, corev1.FSGroupChangeAlways),
	reflect.TypeFor[corev1.SupplementalGroupsPolicy]():    of(corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict),
	reflect.TypeFor[corev1.OSName]():                      of(corev1.Linux, corev1.Windows),
	reflect.TypeFor[corev1.ResourceResizeRestartPolicy](): of(corev1.NotRequired, corev1.RestartContainer),
	reflect.TypeFor[corev1.HostPathType]():                of(corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory, corev1.HostPathFileOrCreate, corev1.HostPathFile, corev1.HostPathSocket, corev1.HostPathCharDev, corev1.HostPathBlockDev),
}

func of[T ~string](values ...T) []string {
	texts := make([]string, len(values))
	for i := range values {
		texts[i] = string(values[i])
	}
	return texts
}
