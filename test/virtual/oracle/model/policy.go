package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// ruleMatch is the podFailurePolicy rule that matches a pod; zero if no rule does. message is the condition message of a
// rule that fails the Job.
type ruleMatch struct {
	action  batchv1.PodFailurePolicyAction
	rule    int
	message string
}

// matchPolicy returns the first rule that matches the pod in its present state (PFP-02).
func (s spec) matchPolicy(p *pod) ruleMatch {
	if s.PodFailurePolicy == nil {
		return ruleMatch{}
	}
	for i, rule := range s.PodFailurePolicy.Rules {
		why, matches := "", false
		if rule.OnExitCodes != nil {
			why, matches = p.exited(rule.OnExitCodes)
		} else {
			why, matches = p.conditioned(rule.OnPodConditions)
		}
		if matches {
			return ruleMatch{rule.Action, i, fmt.Sprintf("%s matching %s rule at index %d", why, rule.Action, i)}
		}
	}
	return ruleMatch{}
}

func (p *pod) name() string { return Namespace + "/" + PodName(p.index, p.nth) }

// exited implements PFP-03: app containers come before init containers, and exit code 0 never matches.
func (p *pod) exited(rule *batchv1.PodFailurePolicyOnExitCodesRequirement) (why string, matches bool) {
	for _, c := range slices.Concat(p.main, p.setup) {
		listed := slices.Contains(rule.Values, c.code)
		wanted := listed == (rule.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn)
		if c.code != 0 && wanted && (rule.ContainerName == nil || *rule.ContainerName == c.container) {
			return fmt.Sprintf("Container %s for pod %s failed with exit code %d", c.container, p.name(), c.code), true
		}
	}
	return "", false
}

// conditioned implements PFP-04: all conditions of pods are True in the model.
func (p *pod) conditioned(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern) (why string, matches bool) {
	for _, condition := range p.conditions {
		for _, pattern := range patterns {
			if pattern.Type == condition && (pattern.Status == corev1.ConditionTrue || pattern.Status == "") {
				return fmt.Sprintf("Pod %s has condition %s", p.name(), condition), true
			}
		}
	}
	return "", false
}

// ruleName returns the name of a rule in the annotation, or its index (KEP-4443). If any part of the annotation is
// invalid, no rule has a name (PFN-25).
func ruleName(annotation string, rule, rules int) string {
	if name := ruleNames(annotation, rules)[rule]; name != "" {
		return name
	}
	return strconv.Itoa(rule) // PFN-22
}

// ruleNames returns the names in the annotation, or nil if any part of it is invalid.
func ruleNames(annotation string, rules int) map[int]string {
	names, taken := map[int]string{}, map[string]bool{}
	if annotation == "" {
		return nil
	}
	for _, entry := range strings.Split(annotation, ";") {
		key, name, _ := strings.Cut(entry, "=")
		index, err := strconv.Atoi(key)
		if _, twice := names[index]; err != nil || twice || index < 0 || index >= rules || !strings.HasPrefix(entry, strconv.Itoa(index)+"=") {
			return nil
		}
		if names[index] = name; name == "" {
			continue
		}
		if taken[name] || !legalName(name, index, rules) {
			return nil
		}
		taken[name] = true
	}
	return names
}

// legalName reports whether a rule name is valid (PFN-17..20).
func legalName(name string, index, rules int) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	if strings.Trim(name, letters+",:") != "" || !strings.ContainsRune(letters, rune(name[len(name)-1])) || len(name) > 111 {
		return false
	}
	if number, err := strconv.Atoi(name); err == nil && number < rules && number != index {
		return false
	}
	return !slices.Contains([]string{
		batchv1.JobReasonPodFailurePolicy, batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonDeadlineExceeded,
		batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonFailedIndexes, batchv1.JobReasonSuccessPolicy,
		batchv1.JobReasonCompletionsReached, "JobSuspended", "JobResumed",
	}, name)
}
