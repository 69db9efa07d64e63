package sim

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// specRule is one rule that the API server enforces on the spec of a Job.
type specRule struct {
	path   string
	kind   field.ErrorType
	says   string
	broken func(spec *batchv1.JobSpec) bool
}

const (
	notSupported = field.ErrorTypeNotSupported
	forbidden    = field.ErrorTypeForbidden
	immutable    = "field is immutable"
)

// validateJob checks a new Job with its defaults set.
func validateJob(job *batchv1.Job) field.ErrorList {
	list := append(validateMeta(job), generatedProblems(job)...)
	return append(list, validateSpec(&job.Spec)...)
}

// generatedProblems are the labels of the template that a user has set instead of the API server.
func generatedProblems(job *batchv1.Job) (list field.ErrorList) {
	if ptr.Deref(job.Spec.ManualSelector, false) {
		return nil
	}
	path := field.NewPath("spec", "template", "metadata", "labels")
	for name, value := range generatedLabels(job) {
		if job.Spec.Template.Labels[name] != value {
			list = append(list, problem(invalid, path.Key(name), "must be "+value))
		}
	}
	return list
}

// validateSpec checks a spec (BLI-01, PFP-11, PFP-12, SUC-01, PRP-01).
func validateSpec(spec *batchv1.JobSpec) field.ErrorList {
	var list field.ErrorList
	for _, rule := range specRules {
		if rule.broken(spec) {
			list = append(list, problem(rule.kind, field.NewPath("spec", rule.path), rule.says))
		}
	}
	if spec.PodFailurePolicy != nil {
		for i := range spec.PodFailurePolicy.Rules {
			path := field.NewPath("spec", "podFailurePolicy", "rules").Index(i)
			list = append(list, failureRuleProblems(spec, &spec.PodFailurePolicy.Rules[i], path)...)
		}
	}
	if spec.SuccessPolicy != nil && isIndexed(spec) {
		for i := range spec.SuccessPolicy.Rules {
			path := field.NewPath("spec", "successPolicy", "rules").Index(i)
			list = append(list, successRuleProblems(spec, &spec.SuccessPolicy.Rules[i], path)...)
		}
	}
	return list
}

func isIndexed(spec *batchv1.JobSpec) bool { return jobspec.IsIndexed(spec) }

func isNegative[T int32 | int64](n *T) bool { return ptr.Deref(n, 0) < 0 }

var specRules = []specRule{
	{"parallelism", invalid, negative, func(s *batchv1.JobSpec) bool { return isNegative(s.Parallelism) }},
	{"completions", invalid, negative, func(s *batchv1.JobSpec) bool { return isNegative(s.Completions) }},
	{"activeDeadlineSeconds", invalid, negative, func(s *batchv1.JobSpec) bool { return isNegative(s.ActiveDeadlineSeconds) }},
	{"backoffLimit", invalid, negative, func(s *batchv1.JobSpec) bool { return isNegative(s.BackoffLimit) }},
	{"ttlSecondsAfterFinished", invalid, negative, func(s *batchv1.JobSpec) bool { return isNegative(s.TTLSecondsAfterFinished) }},
	{"backoffLimitPerIndex", invalid, negative, func(s *batchv1.JobSpec) bool { return isNegative(s.BackoffLimitPerIndex) }},
	{"maxFailedIndexes", invalid, negative, func(s *batchv1.JobSpec) bool { return isNegative(s.MaxFailedIndexes) }},
	{"completionMode", notSupported, "not a completion mode", func(s *batchv1.JobSpec) bool {
		return !isIndexed(s) && *s.CompletionMode != batchv1.NonIndexedCompletion
	}},
	{"completions", required, "required when Indexed", func(s *batchv1.JobSpec) bool { return isIndexed(s) && s.Completions == nil }},
	{"selector", required, "required with manualSelector", func(s *batchv1.JobSpec) bool { return s.Selector == nil }},
	{"template.metadata.labels", invalid, "the selector does not match", func(s *batchv1.JobSpec) bool {
		selector, err := metav1.LabelSelectorAsSelector(s.Selector)
		return err == nil && !selector.Matches(labels.Set(s.Template.Labels))
	}},
	{"managedBy", invalid, "not a domain-prefixed path", func(s *batchv1.JobSpec) bool {
		return s.ManagedBy != nil && len(validation.IsDomainPrefixedPath(nil, *s.ManagedBy)) > 0
	}},
	{"backoffLimitPerIndex", invalid, "requires Indexed", func(s *batchv1.JobSpec) bool { return s.BackoffLimitPerIndex != nil && isNonIndexed(s) }},
	{"maxFailedIndexes", invalid, "requires Indexed", func(s *batchv1.JobSpec) bool { return s.MaxFailedIndexes != nil && isNonIndexed(s) }},
	{"backoffLimitPerIndex", required, "required with maxFailedIndexes", func(s *batchv1.JobSpec) bool {
		return s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil
	}},
	{"maxFailedIndexes", invalid, "more than completions", func(s *batchv1.JobSpec) bool {
		return isIndexed(s) && s.Completions != nil && ptr.Deref(s.MaxFailedIndexes, *s.Completions) > *s.Completions
	}},
	{"successPolicy", invalid, "requires Indexed", func(s *batchv1.JobSpec) bool { return s.SuccessPolicy != nil && !isIndexed(s) }},
	{"successPolicy.rules", required, "no rules", func(s *batchv1.JobSpec) bool {
		return s.SuccessPolicy != nil && isIndexed(s) && len(s.SuccessPolicy.Rules) == 0
	}},
	{"scheduling.schedulingPolicy.gang.minCount", invalid, "a gang larger than parallelism", func(s *batchv1.JobSpec) bool {
		return minCount(s.Scheduling) > max(0, ptr.Deref(s.Parallelism, 1))
	}},
	{"podReplacementPolicy", notSupported, "must be Failed with podFailurePolicy", func(s *batchv1.JobSpec) bool {
		policy := ptr.Deref(s.PodReplacementPolicy, batchv1.Failed)
		return policy != batchv1.Failed && (s.PodFailurePolicy != nil || policy != batchv1.TerminatingOrFailed)
	}},
	{"template.spec.restartPolicy", required, "must not be Always", func(s *batchv1.JobSpec) bool {
		return s.Template.Spec.RestartPolicy == "" || s.Template.Spec.RestartPolicy == corev1.RestartPolicyAlways
	}},
	{"template.spec.restartPolicy", notSupported, "not a restart policy", func(s *batchv1.JobSpec) bool {
		policies := []corev1.RestartPolicy{"", corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}
		return !slices.Contains(policies, s.Template.Spec.RestartPolicy)
	}},
	{"template.spec.restartPolicy", invalid, "podFailurePolicy requires Never", func(s *batchv1.JobSpec) bool {
		return s.PodFailurePolicy != nil && s.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
	}},
}

func isNonIndexed(s *batchv1.JobSpec) bool {
	return jobspec.CompletionMode(s) == batchv1.NonIndexedCompletion
}

func failureRuleProblems(spec *batchv1.JobSpec, rule *batchv1.PodFailurePolicyRule, path *field.Path) (list field.ErrorList) {
	actions := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
		batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex}
	if !slices.Contains(actions, rule.Action) {
		list = append(list, problem(notSupported, path.Child("action"), "not an action"))
	}
	if rule.Action == batchv1.PodFailurePolicyActionFailIndex && spec.BackoffLimitPerIndex == nil {
		list = append(list, problem(invalid, path.Child("action"), "FailIndex requires backoffLimitPerIndex"))
	}
	if (rule.OnExitCodes == nil) == (len(rule.OnPodConditions) == 0) {
		list = append(list, problem(invalid, path, "a rule needs either onExitCodes or onPodConditions"))
	}
	if rule.OnExitCodes == nil {
		return list
	}
	path = path.Child("onExitCodes")
	if name := rule.OnExitCodes.ContainerName; name != nil && !hasContainer(&spec.Template.Spec, *name) {
		list = append(list, problem(invalid, path.Child("containerName"), "no container has that name"))
	}
	if i := slices.Index(rule.OnExitCodes.Values, 0); i >= 0 && rule.OnExitCodes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
		list = append(list, problem(invalid, path.Child("values").Index(i), "must not be 0 for the In operator"))
	}
	return list
}

func successRuleProblems(spec *batchv1.JobSpec, rule *batchv1.SuccessPolicyRule, path *field.Path) (list field.ErrorList) {
	if rule.SucceededCount == nil && rule.SucceededIndexes == nil {
		list = append(list, problem(required, path, "a rule needs succeededCount or succeededIndexes"))
	}
	if spec.Completions == nil {
		return list // The real one panics if there is a count or a list.
	}
	most := int(*spec.Completions)
	if rule.SucceededIndexes != nil {
		count, valid := countIndexes(*rule.SucceededIndexes, spec.Completions)
		if !valid {
			list = append(list, problem(invalid, path.Child("succeededIndexes"), "not a list of indexes of the Job"))
		}
		most = min(most, count)
	}
	if count := rule.SucceededCount; count != nil && (*count < 0 || int(*count) > most) {
		list = append(list, problem(invalid, path.Child("succeededCount"), "negative, or more than the indexes"))
	}
	return list
}

func hasContainer(spec *corev1.PodSpec, name string) bool {
	return slices.ContainsFunc(slices.Concat(spec.Containers, spec.InitContainers), func(c corev1.Container) bool { return c.Name == name })
}

// validateJobUpdate checks a changed Job, and that the immutable fields of its spec do not change.
func validateJobUpdate(old, job *batchv1.Job) field.ErrorList {
	list := append(validateMetaUpdate(old, job), validateSpec(&job.Spec)...)
	was, is := &old.Spec, &job.Spec
	elastic := isIndexed(is) && (is.Completions == nil || ptr.Equal(is.Completions, is.Parallelism))
	for _, f := range []struct {
		path    string
		changed bool
	}{
		{"completions", !ptr.Equal(was.Completions, is.Completions) && !elastic},
		{"completionMode", !ptr.Equal(was.CompletionMode, is.CompletionMode)},
		{"selector", !equality.Semantic.DeepEqual(was.Selector, is.Selector)},
		{"managedBy", !ptr.Equal(was.ManagedBy, is.ManagedBy)},
		{"backoffLimitPerIndex", !ptr.Equal(was.BackoffLimitPerIndex, is.BackoffLimitPerIndex)},
		{"podFailurePolicy", !equality.Semantic.DeepEqual(was.PodFailurePolicy, is.PodFailurePolicy)},
		{"successPolicy", !equality.Semantic.DeepEqual(was.SuccessPolicy, is.SuccessPolicy)},
		{"scheduling", !equality.Semantic.DeepEqual(withoutMinCount(was.Scheduling), withoutMinCount(is.Scheduling))},
		templateChange(old, &is.Template),
	} {
		if f.changed {
			list = append(list, problem(invalid, field.NewPath("spec", f.path), immutable))
		}
	}
	return list
}

// templateChange is what of the template changes that must not. While a Job is suspended and has no active pods, its
// metadata, resources and scheduling may change.
func templateChange(old *batchv1.Job, is *corev1.PodTemplateSpec) (change struct {
	path    string
	changed bool
}) {
	was := old.Spec.Template.DeepCopy()
	v := view(old)
	mutable := ptr.Deref(old.Spec.Suspend, false) && (old.Status.StartTime == nil || v.suspended) && old.Status.Active == 0
	if !mutable {
		change.path, change.changed = "template", !equality.Semantic.DeepEqual(was, is)
		return change
	}
	was.Spec.NodeSelector, was.Spec.Tolerations, was.Spec.SchedulingGates = is.Spec.NodeSelector, is.Spec.Tolerations, is.Spec.SchedulingGates
	for i := range min(len(was.Spec.Containers), len(is.Spec.Containers)) {
		was.Spec.Containers[i].Resources = is.Spec.Containers[i].Resources
	}
	change.path, change.changed = "template.spec", !equality.Semantic.DeepEqual(was.Spec, is.Spec)
	return change
}

// minCount is the gang size that a Job asks for, 0 if it is unset.
func minCount(s *batchv1.JobSchedulingConfiguration) int32 {
	if s == nil || s.SchedulingPolicy == nil || s.SchedulingPolicy.Gang == nil {
		return 0
	}
	return ptr.Deref(s.SchedulingPolicy.Gang.MinCount, 0)
}

// withoutMinCount is the part of spec.scheduling that never changes.
func withoutMinCount(s *batchv1.JobSchedulingConfiguration) *batchv1.JobSchedulingConfiguration {
	s = s.DeepCopy()
	if minCount(s) > 0 {
		s.SchedulingPolicy.Gang.MinCount = nil
	}
	return s
}
