package schema

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// enums are the values that the API server accepts in types of text. Those of fields that have their own checks in
// package lint are not here.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[corev1.Protocol]():                      of(corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP),
	reflect.TypeFor[corev1.DNSPolicy]():                     of(corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone),
	reflect.TypeFor[corev1.TaintEffect]():                   of(corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute),
	reflect.TypeFor[corev1.NodeSelectorOperator]():          of(corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt),
	reflect.TypeFor[metav1.LabelSelectorOperator]():         of(metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist),
	reflect.TypeFor[corev1.URIScheme]():                     of(corev1.URISchemeHTTP, corev1.URISchemeHTTPS),
	reflect.TypeFor[corev1.TerminationMessagePolicy]():      of(corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError),
	reflect.TypeFor[corev1.MountPropagationMode]():          of(corev1.MountPropagationNone, corev1.MountPropagationHostToContainer, corev1.MountPropagationBidirectional),
	reflect.TypeFor[corev1.PersistentVolumeAccessMode]():    of(corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod),
	reflect.TypeFor[corev1.PersistentVolumeMode]():          of(corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem),
	reflect.TypeFor[corev1.PreemptionPolicy]():              of(corev1.PreemptLowerPriority, corev1.PreemptNever),
	reflect.TypeFor[corev1.UnsatisfiableConstraintAction](): of(corev1.DoNotSchedule, corev1.ScheduleAnyway),
	reflect.TypeFor[corev1.NodeInclusionPolicy]():           of(corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore),
	reflect.TypeFor[corev1.SeccompProfileType]():            of(corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined, corev1.SeccompProfileTypeLocalhost),
	reflect.TypeFor[corev1.AppArmorProfileType]():           of(corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined, corev1.AppArmorProfileTypeLocalhost),
	reflect.TypeFor[corev1.ProcMountType]():                 of(corev1.DefaultProcMount, corev1.UnmaskedProcMount),
	reflect.TypeFor[corev1.PodFSGroupChangePolicy]():        of(corev1.FSGroupChangeOnRootMismatch, corev1.FSGroupChangeAlways),
	reflect.TypeFor[corev1.SupplementalGroupsPolicy]():      of(corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict),
	reflect.TypeFor[corev1.OSName]():                        of(corev1.Linux, corev1.Windows),
	reflect.TypeFor[corev1.ContainerRestartPolicy]():        of(corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure),
	reflect.TypeFor[corev1.ResourceResizeRestartPolicy]():   of(corev1.NotRequired, corev1.RestartContainer),
	reflect.TypeFor[corev1.HostPathType]():                  of(corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory, corev1.HostPathFileOrCreate, corev1.HostPathFile, corev1.HostPathSocket, corev1.HostPathCharDev, corev1.HostPathBlockDev),
	reflect.TypeFor[corev1.TolerationOperator]():            of(corev1.TolerationOpExists, corev1.TolerationOpEqual, corev1.TolerationOpLt, corev1.TolerationOpGt),
}

func of[T ~string](values ...T) []string {
	texts := make([]string, len(values))
	for i := range values {
		texts[i] = string(values[i])
	}
	return texts
}
