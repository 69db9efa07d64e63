package sim

import (
	"maps"
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Paths of problems: creating one for every write takes a twentieth of the memory that a simulation allocates.
var metadataPath, specPath = field.NewPath("metadata"), field.NewPath("spec")

// validateMeta checks the metadata of an object.
func validateMeta(object metav1.Object) field.ErrorList {
	path := metadataPath
	list := apivalidation.ValidateObjectMetaAccessor(object, true, apivalidation.NameIsDNSSubdomain, path)
	for i, name := range object.GetFinalizers() {
		if !apirules.IsFinalizer(name) {
			list = append(list, field.Invalid(path.Child("finalizers").Index(i), field.OmitValueType{}, "the name has no domain"))
		}
	}
	return list
}

// validateMetaUpdate checks changed metadata. Unchanged labels and annotations have been checked before.
func validateMetaUpdate(old, now *metav1.ObjectMeta) field.ErrorList {
	checked := *now
	if maps.Equal(old.Labels, now.Labels) {
		checked.Labels = nil
	}
	if maps.Equal(old.Annotations, now.Annotations) {
		checked.Annotations = nil
	}
	return append(validateMeta(&checked), apivalidation.ValidateObjectMetaAccessorUpdate(&checked, old, metadataPath)...)
}

// validateJob checks a new Job with its defaults set.
func validateJob(job *batchv1.Job) field.ErrorList {
	return slices.Concat(validateMeta(job), templateFormats(job), append(apirules.NewJob(job, nil), hostname(job)...).Errors())
}

// validateJobUpdate checks a changed Job.
func validateJobUpdate(old, job *batchv1.Job) field.ErrorList {
	return slices.Concat(validateMetaUpdate(&old.ObjectMeta, &job.ObjectMeta), templateFormats(job), append(apirules.ChangedJob(old, job), hostname(job)...).Errors())
}

func hostname(job *batchv1.Job) apirules.Problems {
	return apirules.Hostname(job.Name, &job.Spec, field.NewPath("metadata", "name"))
}

// templateFormats reports invalid labels and annotations of the template.
func templateFormats(job *batchv1.Job) field.ErrorList {
	template, path := &job.Spec.Template, field.NewPath("spec", "template")
	return append(metavalidation.ValidateLabels(template.Labels, path.Child("labels")), apivalidation.ValidateAnnotations(template.Annotations, path.Child("annotations"))...)
}

// validatePod checks a new pod.
func validatePod(pod *corev1.Pod) field.ErrorList {
	list := validateMeta(pod)
	if !slices.Contains(restartPolicies, pod.Spec.RestartPolicy) {
		list = append(list, field.NotSupported(specPath.Child("restartPolicy"), pod.Spec.RestartPolicy, restartPolicies))
	}
	return list
}

var restartPolicies = []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}

// validatePodSpec checks a changed spec: images may change, a deadline may be added or shortened, and a pod without a
// node may get one.
func validatePodSpec(was, is *corev1.PodSpec) (list field.ErrorList) {
	before, deadline := was.ActiveDeadlineSeconds, is.ActiveDeadlineSeconds
	late := func() *field.Error {
		return field.Invalid(specPath.Child("activeDeadlineSeconds"), field.OmitValueType{}, "not positive, or later than before")
	}
	switch {
	case deadline != nil && (*deadline < 0 || *deadline > ptr.Deref(before, math.MaxInt32)):
		return field.ErrorList{late()} // Then the API server checks nothing else.
	case ptr.Deref(deadline, 1) == 0, deadline == nil && before != nil:
		list = append(list, late())
	}
	rest := *is
	rest.ActiveDeadlineSeconds = before
	rest.Containers, rest.InitContainers = withImages(is.Containers, was.Containers), withImages(is.InitContainers, was.InitContainers)
	if was.NodeName == "" {
		rest.NodeName = ""
	}
	if !reconcile.Same(was, &rest) {
		list = append(list, field.Forbidden(specPath, "field is immutable"))
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

// validateContainers checks that a container that has ended, and that the restart policy does not restart, stays
// terminated.
func validateContainers(old, pod *corev1.Pod) (list field.ErrorList) {
	for i, was := range old.Status.ContainerStatuses {
		runs := func(c corev1.ContainerStatus) bool { return c.Name == was.Name && c.State.Terminated == nil }
		if was.State.Terminated == nil || restarts(&pod.Spec, was) || !slices.ContainsFunc(pod.Status.ContainerStatuses, runs) {
			continue
		}
		path := field.NewPath("status", "containerStatuses").Index(i).Child("state")
		list = append(list, field.Forbidden(path, "may not be transitioned to non-terminated state"))
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
