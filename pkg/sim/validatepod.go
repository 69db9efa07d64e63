package sim

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// validatePod checks a new pod.
func validatePod(pod *corev1.Pod) field.ErrorList {
	list := validateMeta(pod)
	if !slices.Contains(restartPolicies, pod.Spec.RestartPolicy) {
		list = append(list, problem(notSupported, field.NewPath("spec", "restartPolicy"), "not a restart policy"))
	}
	return list
}

var restartPolicies = []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}

// validatePodSpec checks a changed spec: images may change, a deadline may come or be shortened, and a pod without a
// node may get one.
func validatePodSpec(was, is *corev1.PodSpec) (list field.ErrorList) {
	path := field.NewPath("spec")
	before, deadline := was.ActiveDeadlineSeconds, is.ActiveDeadlineSeconds
	late := problem(invalid, path.Child("activeDeadlineSeconds"), "not positive, or later than before")
	switch {
	case deadline != nil && (*deadline < 0 || *deadline > ptr.Deref(before, math.MaxInt32)):
		return field.ErrorList{late} // Nothing else is checked then.
	case ptr.Deref(deadline, 1) == 0, deadline == nil && before != nil:
		list = append(list, late)
	}
	rest := *is
	rest.ActiveDeadlineSeconds = before
	rest.Containers, rest.InitContainers = withImages(is.Containers, was.Containers), withImages(is.InitContainers, was.InitContainers)
	if was.NodeName == "" {
		rest.NodeName = ""
	}
	if !equality.Semantic.DeepEqual(was, &rest) {
		list = append(list, problem(forbidden, path, immutable))
	}
	return list
}

// withImages returns containers with the images of others.
func withImages(containers, others []corev1.Container) []corev1.Container {
	out := slices.Clone(containers)
	for i := range min(len(out), len(others)) {
		out[i].Image = others[i].Image
	}
	return out
}

// validateContainers checks that a container that has ended, and that the restart policy does not restart, stays so.
func validateContainers(old, pod *corev1.Pod) (list field.ErrorList) {
	for i, was := range old.Status.ContainerStatuses {
		runs := func(c corev1.ContainerStatus) bool { return c.Name == was.Name && c.State.Terminated == nil }
		if was.State.Terminated == nil || restarts(&pod.Spec, was) || !slices.ContainsFunc(pod.Status.ContainerStatuses, runs) {
			continue
		}
		path := field.NewPath("status", "containerStatuses").Index(i).Child("state")
		list = append(list, problem(forbidden, path, "may not be transitioned to non-terminated state"))
	}
	return list
}

// restarts reports whether the restart policy restarts a container that has ended.
func restarts(spec *corev1.PodSpec, c corev1.ContainerStatus) bool {
	switch spec.RestartPolicy {
	case corev1.RestartPolicyAlways:
		return true
	case corev1.RestartPolicyOnFailure:
		return c.State.Terminated.ExitCode != 0
	}
	return false
}
