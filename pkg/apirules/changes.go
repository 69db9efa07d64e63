package apirules

import (
	"cmp"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// SetDefaults sets the fields that a Job leaves out, as the API server does before it checks a Job.
func SetDefaults(job *batchv1.Job) {
	spec := &job.Spec
	defaultTo(&spec.CompletionMode, jobspec.CompletionMode(spec))
	defaultTo(&spec.Suspend, false)
	defaultTo(&spec.BackoffLimit, jobspec.BackoffLimit(spec))
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = ptr.To[int32](1)
	}
	defaultTo(&spec.Parallelism, jobspec.Parallelism(spec))
	defaultTo(&spec.PodReplacementPolicy, jobspec.PodReplacementPolicy(spec))
	defaultTo(&spec.ManualSelector, false)
	if spec.PodFailurePolicy == nil {
		return
	}
	for _, rule := range spec.PodFailurePolicy.Rules {
		for i := range rule.OnPodConditions {
			rule.OnPodConditions[i].Status = cmp.Or(rule.OnPodConditions[i].Status, corev1.ConditionTrue)
		}
	}
}

func defaultTo[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// GenerateSelector makes a new Job select pods by its UID, and adds the UID and the Job's name to the template's labels, unless
// the Job has a manual selector. Existing labels take precedence.
func GenerateSelector(job *batchv1.Job) {
	spec := &job.Spec
	if jobspec.HasManualSelector(spec) {
		return
	}
	generated, byUID := generatedLabels(job), map[string]string{batchv1.ControllerUidLabel: string(job.UID)}
	maps.Copy(generated, spec.Template.Labels)
	if spec.Selector == nil {
		spec.Selector = &metav1.LabelSelector{}
	}
	maps.Copy(byUID, spec.Selector.MatchLabels)
	spec.Template.Labels, spec.Selector.MatchLabels = generated, byUID
}

// generatedLabels returns the current generated labels, and the ones from before Kubernetes 1.27.
func generatedLabels(job *batchv1.Job) map[string]string {
	uid := string(job.UID)
	return map[string]string{batchv1.ControllerUidLabel: uid, batchv1.JobNameLabel: job.Name, "controller-uid": uid, "job-name": job.Name}
}

// changes returns the changes of immutable fields.
func changes(old, job *batchv1.Job, path *field.Path) (found Problems) {
	was, is := &old.Spec, &job.Spec
	elastic := jobspec.IsIndexed(is) && (is.Completions == nil || ptr.Equal(is.Completions, is.Parallelism))
	template, changed := templateChange(old, &is.Template)
	for _, f := range []struct {
		path    string
		changed bool
	}{
		{"completions", !ptr.Equal(was.Completions, is.Completions) && !elastic},
		{"completionMode", !ptr.Equal(was.CompletionMode, is.CompletionMode)},
		{"selector", differ(was.Selector, is.Selector)},
		{"managedBy", !ptr.Equal(was.ManagedBy, is.ManagedBy)},
		{"backoffLimitPerIndex", !ptr.Equal(was.BackoffLimitPerIndex, is.BackoffLimitPerIndex)},
		{"podFailurePolicy", differ(was.PodFailurePolicy, is.PodFailurePolicy)},
		{"successPolicy", differ(was.SuccessPolicy, is.SuccessPolicy)},
		{"scheduling", differ(withoutMinCount(was.Scheduling), withoutMinCount(is.Scheduling))},
		{template, changed},
	} {
		if f.changed {
			found = append(found, Problem{ID: "immutable", Type: invalid, Path: path.Child(f.path), Message: "field is immutable"})
		}
	}
	return found
}

func differ[T any](was, is *T) bool { return !equality.Semantic.DeepEqual(was, is) }

// templateChange reports a forbidden change of the template. While a Job is suspended and has no active pods, the
// template's metadata, resources and scheduling may change.
func templateChange(old *batchv1.Job, is *corev1.PodTemplateSpec) (path string, changed bool) {
	if !jobspec.IsSuspended(&old.Spec) || old.Status.StartTime != nil && !view(old).suspended || old.Status.Active != 0 {
		return "template", differ(&old.Spec.Template, is)
	}
	was := old.Spec.Template.DeepCopy()
	was.Spec.NodeSelector, was.Spec.Tolerations, was.Spec.SchedulingGates = is.Spec.NodeSelector, is.Spec.Tolerations, is.Spec.SchedulingGates
	takeResources(was.Spec.Containers, is.Spec.Containers)
	takeResources(was.Spec.InitContainers, is.Spec.InitContainers)
	return "template.spec", differ(&was.Spec, &is.Spec)
}

func takeResources(to, from []corev1.Container) {
	for i := range min(len(to), len(from)) {
		to[i].Resources = from[i].Resources
	}
}

// withoutMinCount returns the immutable part of spec.scheduling.
func withoutMinCount(s *batchv1.JobSchedulingConfiguration) *batchv1.JobSchedulingConfiguration {
	s = s.DeepCopy()
	if minCount(s) > 0 {
		s.SchedulingPolicy.Gang.MinCount = nil
	}
	return s
}

// minCount returns the gang size that a Job requests, 0 if it is unset.
func minCount(s *batchv1.JobSchedulingConfiguration) int32 {
	if s == nil || s.SchedulingPolicy == nil || s.SchedulingPolicy.Gang == nil {
		return 0
	}
	return ptr.Deref(s.SchedulingPolicy.Gang.MinCount, 0)
}
