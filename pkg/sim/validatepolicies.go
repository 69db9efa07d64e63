package sim

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits of policies.
const (
	maxRules            = 20
	maxPatterns         = 20
	maxExitCodes        = 255
	maxSucceededIndexes = 64 << 10
)

// failurePolicyProblems are those of spec.podFailurePolicy (PFP-11, PFP-12).
func failurePolicyProblems(spec *batchv1.JobSpec) (list field.ErrorList) {
	if spec.PodFailurePolicy == nil {
		return nil
	}
	rules, path := spec.PodFailurePolicy.Rules, field.NewPath("spec", "podFailurePolicy", "rules")
	if len(rules) > maxRules {
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

// choiceProblems reports a value that is missing, or not one of the choices.
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
	case n > maxExitCodes:
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
	if len(patterns) > maxPatterns {
		list = append(list, problem(tooMany, path, "too many patterns"))
	}
	for i, p := range patterns {
		// A type has the format of a label's name.
		list = append(list, metavalidation.ValidateLabelName(string(p.Type), path.Index(i).Child("type"))...)
		list = append(list, choiceProblems(path.Index(i).Child("status"), p.Status, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown)...)
	}
	return list
}

// successPolicyProblems are those of spec.successPolicy of an Indexed Job (SUC-01, SUC-02).
func successPolicyProblems(spec *batchv1.JobSpec) (list field.ErrorList) {
	if spec.SuccessPolicy == nil || !isIndexed(spec) {
		return nil
	}
	rules, path := spec.SuccessPolicy.Rules, field.NewPath("spec", "successPolicy", "rules")
	switch n := len(rules); {
	case n == 0:
		list = append(list, problem(required, path, "no rules"))
	case n > maxRules:
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
		return list // The real one panics if there is a count or a list.
	}
	most := int(*spec.Completions)
	if rule.SucceededIndexes != nil {
		if len(*rule.SucceededIndexes) > maxSucceededIndexes {
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
