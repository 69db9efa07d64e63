package sim

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// validateMeta checks owners and finalizers.
func validateMeta(object metav1.Object) (list field.ErrorList) {
	controllers := 0
	for _, o := range object.GetOwnerReferences() {
		if ptr.Deref(o.Controller, false) {
			controllers++
		}
	}
	if controllers > 1 {
		list = append(list, problem(invalid, field.NewPath("metadata", "ownerReferences"), "only one reference can be the controller"))
	}
	finalizers := object.GetFinalizers()
	if slices.Contains(finalizers, metav1.FinalizerOrphanDependents) && slices.Contains(finalizers, metav1.FinalizerDeleteDependents) {
		list = append(list, problem(invalid, field.NewPath("metadata", "finalizers"), "dependents cannot be both orphaned and deleted"))
	}
	return list
}

// validateMetaUpdate checks the UID, owners and finalizers of a changed object.
func validateMetaUpdate(old, object metav1.Object) field.ErrorList {
	list := validateMeta(object)
	if object.GetUID() != old.GetUID() {
		list = append(list, problem(invalid, field.NewPath("metadata", "uid"), immutable))
	}
	added := func(f string) bool { return !slices.Contains(old.GetFinalizers(), f) }
	if old.GetDeletionTimestamp() != nil && slices.ContainsFunc(object.GetFinalizers(), added) {
		list = append(list, problem(forbidden, field.NewPath("metadata", "finalizers"), "no new finalizers can be added if the object is being deleted"))
	}
	return list
}

// validateContainers checks that a container that has ended, and that the restart policy does not restart, stays so.
func validateContainers(old, pod *corev1.Pod) (list field.ErrorList) {
	for i, was := range old.Status.ContainerStatuses {
		ended := was.State.Terminated
		runs := func(c corev1.ContainerStatus) bool { return c.Name == was.Name && c.State.Terminated == nil }
		restarts := pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && ended != nil && ended.ExitCode != 0
		if ended != nil && !restarts && slices.ContainsFunc(pod.Status.ContainerStatuses, runs) {
			path := field.NewPath("status", "containerStatuses").Index(i).Child("state")
			list = append(list, problem(forbidden, path, "may not be transitioned to non-terminated state"))
		}
	}
	return list
}
