package sim

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// specRule is one rule that the API server enforces on the spec of a Job.
type specRule struct {
	path    string
	kind    field.ErrorType
	message string
	broken  func(spec *batchv1.JobSpec) bool
}

// validateSpec checks a spec (BLI-01, BLI-30, PFP-11, PFP-12, SUC-01, SUC-02, PRP-01).
func validateSpec(spec *batchv1.JobSpec) field.ErrorList {
	list := slices.Concat(formatProblems(spec), failurePolicyProblems(spec), successPolicyProblems(spec))
	for _, rule := range specRules {
		if rule.broken(spec) {
			list = append(list, problem(rule.kind, field.NewPath("spec", rule.path), rule.message))
		}
	}
	return list
}

// formatProblems reports invalid names, labels and annotations.
func formatProblems(spec *batchv1.JobSpec) field.ErrorList {
	path := specPath
	list := slices.Concat(
		metavalidation.ValidateLabelSelector(spec.Selector, metavalidation.LabelSelectorValidationOptions{}, path.Child("selector")),
		metavalidation.ValidateLabels(spec.Template.Labels, path.Child("template", "labels")),
		apivalidation.ValidateAnnotations(spec.Template.Annotations, path.Child("template", "annotations")),
	)
	if spec.ManagedBy != nil {
		list = append(list, validation.IsDomainPrefixedPath(path.Child("managedBy"), *spec.ManagedBy)...)
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
	{"managedBy", tooLong, "too long", func(s *batchv1.JobSpec) bool { return len(ptr.Deref(s.ManagedBy, "")) > 63 }},
	{"backoffLimitPerIndex", invalid, "requires Indexed", func(s *batchv1.JobSpec) bool { return s.BackoffLimitPerIndex != nil && isNonIndexed(s) }},
	{"maxFailedIndexes", invalid, "requires Indexed", func(s *batchv1.JobSpec) bool { return s.MaxFailedIndexes != nil && isNonIndexed(s) }},
	{"backoffLimitPerIndex", required, "required with maxFailedIndexes", func(s *batchv1.JobSpec) bool {
		return s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil
	}},
	{"maxFailedIndexes", invalid, "more than completions", func(s *batchv1.JobSpec) bool {
		return isIndexed(s) && s.Completions != nil && ptr.Deref(s.MaxFailedIndexes, *s.Completions) > *s.Completions
	}},
	{"parallelism", invalid, "too large for an Indexed Job", func(s *batchv1.JobSpec) bool {
		return isIndexed(s) && *s.Parallelism > jobspec.MaxIndexes || hasMany(s) && *s.Parallelism > jobspec.MaxOfMany
	}},
	{"maxFailedIndexes", invalid, "too large", func(s *batchv1.JobSpec) bool {
		n := ptr.Deref(s.MaxFailedIndexes, 0)
		return isIndexed(s) && n > jobspec.MaxIndexes || hasMany(s) && n > jobspec.MaxOfMany
	}},
	{"maxFailedIndexes", required, "required with so many completions", func(s *batchv1.JobSpec) bool {
		return hasMany(s) && s.MaxFailedIndexes == nil
	}},
	{"successPolicy", invalid, "requires Indexed", func(s *batchv1.JobSpec) bool { return s.SuccessPolicy != nil && !isIndexed(s) }},
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

// hasMany reports whether a Job with a limit per index has so many indexes that lower limits apply.
func hasMany(s *batchv1.JobSpec) bool {
	return isIndexed(s) && s.BackoffLimitPerIndex != nil && ptr.Deref(s.Completions, 0) > jobspec.ManyCompletions
}

func isNonIndexed(s *batchv1.JobSpec) bool {
	return jobspec.CompletionMode(s) == batchv1.NonIndexedCompletion
}

// minCount returns the gang size that a Job requests, 0 if it is unset.
func minCount(s *batchv1.JobSchedulingConfiguration) int32 {
	if s == nil || s.SchedulingPolicy == nil || s.SchedulingPolicy.Gang == nil {
		return 0
	}
	return ptr.Deref(s.SchedulingPolicy.Gang.MinCount, 0)
}

// withoutMinCount returns the immutable part of spec.scheduling.
func withoutMinCount(s *batchv1.JobSchedulingConfiguration) *batchv1.JobSchedulingConfiguration {
	s = s.DeepCopy()
	if minCount(s) > 0 {
		s.SchedulingPolicy.Gang.MinCount = nil
	}
	return s
}

// failurePolicyProblems reports problems of spec.podFailurePolicy (PFP-11, PFP-12).
func failurePolicyProblems(spec *batchv1.JobSpec) (list field.ErrorList) {
	if spec.PodFailurePolicy == nil {
		return nil
	}
	rules, path := spec.PodFailurePolicy.Rules, field.NewPath("spec", "podFailurePolicy", "rules")
	if len(rules) > jobspec.MaxRules {
		list = append(list, problem(tooMany, path, "too many rules"))
	}
	for i := range rules {
		list = append(list, failureRuleProblems(spec, &rules[i], path.Index(i))...)
	}
	return list
}

func failureRuleProblems(spec *batchv1.JobSpec, rule *batchv1.PodFailurePolicyRule, path *field.Path) field.ErrorList {
	list := choiceProblems(path.Child("action"), rule.Action, batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
		batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex)
	if rule.Action == batchv1.PodFailurePolicyActionFailIndex && spec.BackoffLimitPerIndex == nil {
		list = append(list, problem(invalid, path.Child("action"), "FailIndex requires backoffLimitPerIndex"))
	}
	if (rule.OnExitCodes == nil) == (len(rule.OnPodConditions) == 0) {
		list = append(list, problem(invalid, path, "a rule needs either onExitCodes or onPodConditions"))
	}
	if rule.OnExitCodes != nil {
		list = append(list, exitCodeProblems(&spec.Template.Spec, rule.OnExitCodes, path.Child("onExitCodes"))...)
	}
	return append(list, patternProblems(rule.OnPodConditions, path.Child("onPodConditions"))...)
}

// choiceProblems reports a value that is missing, or not among the choices.
func choiceProblems[T ~string](path *field.Path, value T, choices ...T) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{problem(required, path, "missing")}
	case !slices.Contains(choices, value):
		return field.ErrorList{problem(notSupported, path, "not one of the choices")}
	}
	return nil
}

func exitCodeProblems(template *corev1.PodSpec, codes *batchv1.PodFailurePolicyOnExitCodesRequirement, path *field.Path) field.ErrorList {
	in := batchv1.PodFailurePolicyOnExitCodesOpIn
	list := choiceProblems(path.Child("operator"), codes.Operator, in, batchv1.PodFailurePolicyOnExitCodesOpNotIn)
	if name := codes.ContainerName; name != nil && !hasContainer(template, *name) {
		list = append(list, problem(invalid, path.Child("containerName"), "no container has that name"))
	}
	path = path.Child("values")
	switch n := len(codes.Values); {
	case n == 0:
		list = append(list, problem(invalid, path, "no values"))
	case n > jobspec.MaxExitCodes:
		list = append(list, problem(tooMany, path, "too many values"))
	}
	if !slices.IsSorted(codes.Values) {
		list = append(list, problem(invalid, path, "must be ordered"))
	}
	for i, code := range codes.Values {
		if code == 0 && codes.Operator == in {
			list = append(list, problem(invalid, path.Index(i), "must not be 0 for the In operator"))
		}
		if slices.Contains(codes.Values[:i], code) {
			list = append(list, problem(duplicate, path.Index(i), "repeated"))
		}
	}
	return list
}

func patternProblems(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, path *field.Path) (list field.ErrorList) {
	if len(patterns) > jobspec.MaxRules {
		list = append(list, problem(tooMany, path, "too many patterns"))
	}
	for i, p := range patterns {
		// A type has the format of a label's name.
		list = append(list, metavalidation.ValidateLabelName(string(p.Type), path.Index(i).Child("type"))...)
		list = append(list, choiceProblems(path.Index(i).Child("status"), p.Status, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown)...)
	}
	return list
}

// successPolicyProblems reports problems of spec.successPolicy of an Indexed Job (SUC-01, SUC-02).
func successPolicyProblems(spec *batchv1.JobSpec) (list field.ErrorList) {
	if spec.SuccessPolicy == nil || !isIndexed(spec) {
		return nil
	}
	rules, path := spec.SuccessPolicy.Rules, field.NewPath("spec", "successPolicy", "rules")
	switch n := len(rules); {
	case n == 0:
		list = append(list, problem(required, path, "no rules"))
	case n > jobspec.MaxRules:
		list = append(list, problem(tooMany, path, "too many rules"))
	}
	for i := range rules {
		list = append(list, successRuleProblems(spec, &rules[i], path.Index(i))...)
	}
	return list
}

func successRuleProblems(spec *batchv1.JobSpec, rule *batchv1.SuccessPolicyRule, path *field.Path) (list field.ErrorList) {
	if rule.SucceededCount == nil && rule.SucceededIndexes == nil {
		list = append(list, problem(required, path, "a rule needs succeededCount or succeededIndexes"))
	}
	if spec.Completions == nil {
		return list // A real API server panics if there is a count or a list.
	}
	most := int(*spec.Completions)
	if rule.SucceededIndexes != nil {
		if len(*rule.SucceededIndexes) > jobspec.MaxSucceededIndexes {
			list = append(list, problem(tooLong, path.Child("succeededIndexes"), "too long"))
		}
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
