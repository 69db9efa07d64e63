package sim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// standardFinalizers are the finalizers that need no domain.
var standardFinalizers = []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}

// Paths of problems: creating one for every write takes a twentieth of the memory that a simulation allocates.
var metadataPath, specPath = field.NewPath("metadata"), field.NewPath("spec")

// validateMeta checks the metadata of an object.
func validateMeta(object metav1.Object) field.ErrorList {
	path := metadataPath
	list := apivalidation.ValidateObjectMetaAccessor(object, true, apivalidation.NameIsDNSSubdomain, path)
	for i, name := range object.GetFinalizers() {
		if !strings.Contains(name, "/") && !slices.Contains(standardFinalizers, name) {
			list = append(list, problem(invalid, path.Child("finalizers").Index(i), "the name has no domain"))
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
	return slices.Concat(validateMeta(job), generatedProblems(job), validateSpec(&job.Spec), hostnameProblems(job))
}

// generatedProblems reports generated fields that a user has set: labels of the template, or another selector.
func generatedProblems(job *batchv1.Job) (list field.ErrorList) {
	if ptr.Deref(job.Spec.ManualSelector, false) {
		return nil
	}
	spec, generated := specPath, generatedLabels(job)
	for name, value := range generated {
		if job.Spec.Template.Labels[name] != value {
			list = append(list, problem(invalid, spec.Child("template", "metadata", "labels").Key(name), "must be "+value))
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err == nil && !selector.Matches(labels.Set(generated)) {
		list = append(list, problem(invalid, spec.Child("selector"), "selects more than the generated labels"))
	}
	return list
}

// hostnameProblems reports a name that does not form a valid hostname with the last index.
func hostnameProblems(job *batchv1.Job) field.ErrorList {
	completions := ptr.Deref(job.Spec.Completions, 0)
	if !isIndexed(&job.Spec) || completions <= 0 {
		return nil
	}
	hostname := fmt.Sprintf("%s-%d", job.Name, completions-1)
	if len(validation.IsDNS1123Label(hostname)) == 0 {
		return nil
	}
	return field.ErrorList{problem(invalid, field.NewPath("metadata", "name"), hostname+" is not a hostname")}
}

// validateJobUpdate checks a changed Job, and that the immutable fields of its spec do not change.
func validateJobUpdate(old, job *batchv1.Job) field.ErrorList {
	list := slices.Concat(validateMetaUpdate(&old.ObjectMeta, &job.ObjectMeta), validateSpec(&job.Spec), hostnameProblems(job))
	was, is := &old.Spec, &job.Spec
	elastic := isIndexed(is) && (is.Completions == nil || ptr.Equal(is.Completions, is.Parallelism))
	for _, f := range []struct {
		path    string
		changed bool
	}{
		{"completions", !ptr.Equal(was.Completions, is.Completions) && !elastic},
		{"completionMode", !ptr.Equal(was.CompletionMode, is.CompletionMode)},
		{"selector", !reconcile.Same(was.Selector, is.Selector)},
		{"managedBy", !ptr.Equal(was.ManagedBy, is.ManagedBy)},
		{"backoffLimitPerIndex", !ptr.Equal(was.BackoffLimitPerIndex, is.BackoffLimitPerIndex)},
		{"podFailurePolicy", !reconcile.Same(was.PodFailurePolicy, is.PodFailurePolicy)},
		{"successPolicy", !reconcile.Same(was.SuccessPolicy, is.SuccessPolicy)},
		{"scheduling", !reconcile.Same(withoutMinCount(was.Scheduling), withoutMinCount(is.Scheduling))},
		templateChange(old, &is.Template),
	} {
		if f.changed {
			list = append(list, problem(invalid, field.NewPath("spec", f.path), immutable))
		}
	}
	return list
}

// templateChange reports a forbidden change of the template. While a Job is suspended and has no active pods, the
// template's metadata, resources and scheduling may change.
func templateChange(old *batchv1.Job, is *corev1.PodTemplateSpec) (change struct {
	path    string
	changed bool
}) {
	v := view(old)
	mutable := ptr.Deref(old.Spec.Suspend, false) && (old.Status.StartTime == nil || v.suspended) && old.Status.Active == 0
	if !mutable {
		change.path, change.changed = "template", !reconcile.Same(&old.Spec.Template, is)
		return change
	}
	was := old.Spec.Template.DeepCopy()
	was.Spec.NodeSelector, was.Spec.Tolerations, was.Spec.SchedulingGates = is.Spec.NodeSelector, is.Spec.Tolerations, is.Spec.SchedulingGates
	takeResources(was.Spec.Containers, is.Spec.Containers)
	takeResources(was.Spec.InitContainers, is.Spec.InitContainers)
	change.path, change.changed = "template.spec", !reconcile.Same(&was.Spec, &is.Spec)
	return change
}

func takeResources(to, from []corev1.Container) {
	for i := range min(len(to), len(from)) {
		to[i].Resources = from[i].Resources
	}
}

// validatePod checks a new pod.
func validatePod(pod *corev1.Pod) field.ErrorList {
	list := validateMeta(pod)
	if !slices.Contains(restartPolicies, pod.Spec.RestartPolicy) {
		list = append(list, problem(notSupported, field.NewPath("spec", "restartPolicy"), "not a restart policy"))
	}
	return list
}

var restartPolicies = []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}

// validatePodSpec checks a changed spec: images may change, a deadline may be added or shortened, and a pod without a
// node may get one.
func validatePodSpec(was, is *corev1.PodSpec) (list field.ErrorList) {
	before, deadline := was.ActiveDeadlineSeconds, is.ActiveDeadlineSeconds
	late := func() *field.Error {
		return problem(invalid, specPath.Child("activeDeadlineSeconds"), "not positive, or later than before")
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
		list = append(list, problem(forbidden, specPath, immutable))
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
