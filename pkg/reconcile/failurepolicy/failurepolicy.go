// Package failurepolicy evaluates spec.podFailurePolicy on a failed pod: which rule matches first, on what evidence,
// and which rules did not match (KEP-3329).
//
// The caller decides when to evaluate a pod (in phase Failed only, PFP-01) and what an action means for the Job.
// Nothing here keeps state or returns an error: an invalid rule does not match, and Match has the reason.
package failurepolicy

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Container is one terminated container of a failed pod.
type Container struct {
	Name     string
	ExitCode int32
	Reason   string
}

// Condition is one condition of a failed pod.
type Condition struct {
	Type   corev1.PodConditionType
	Status corev1.ConditionStatus
}

// Pod is the part of a pod in phase Failed that rules evaluate: the containers that
// terminated, app containers before init containers, and the conditions.
type Pod struct {
	Containers []Container
	Conditions []Condition
}

// NoRule is Match.Rule if no rule matched.
const NoRule int32 = -1

// Match is the result of an evaluation, with its evidence.
type Match struct {
	// Rule is the index of the first rule that matches, or NoRule, and Action is its
	// action, or "".
	Rule   int32
	Action batchv1.PodFailurePolicyAction
	// Container and ExitCode are the container that matched a rule with onExitCodes, and its exit code.
	Container string
	ExitCode  int32
	// Condition is the type of the pod condition that matched a rule with onPodConditions.
	Condition corev1.PodConditionType
	// Passed are the rules before the one that matched, or all rules if none matched.
	Passed []Passed
}

// Passed is a rule that did not match.
type Passed struct {
	Rule int32
	Why  Why
}

// Why is the reason that a rule did not match. The zero Why means that it matched.
type Why uint8

const (
	// ActionUnavailable means action FailIndex, but the feature is disabled or the Job has no
	// backoffLimitPerIndex (KEP-3850).
	ActionUnavailable Why = iota + 1
	// UnknownAction means an action of a later API version.
	UnknownAction
	// UnknownOperator means an operator of a later API version.
	UnknownOperator
	// NoRequirement means neither onExitCodes nor onPodConditions.
	NoRequirement
	// NoFailedContainer means that no container ended with an exit code other than 0.
	NoFailedContainer
	// NamedContainerNotFailed means that the container that the rule names did not fail.
	NamedContainerNotFailed
	// CodeNotListed means operator In, but no failed container's code is among the values.
	CodeNotListed
	// CodesListed means operator NotIn, but every failed container's code is among the values.
	CodesListed
	// NoCondition means that the pod has none of the conditions with the required status.
	NoCondition
)

var whyTexts = [...]string{
	ActionUnavailable:       "its action FailIndex needs backoffLimitPerIndex, which is unset or disabled",
	UnknownAction:           "this version does not know its action",
	UnknownOperator:         "this version does not know its operator",
	NoRequirement:           "it has no requirements",
	NoFailedContainer:       "no container ended with an exit code other than 0",
	NamedContainerNotFailed: "the container it names did not end with an exit code other than 0",
	CodeNotListed:           "none of the exit codes that it checks is in its values",
	CodesListed:             "all exit codes that it checks are in its values",
	NoCondition:             "the pod has none of its conditions with the required status",
}

// String completes a sentence in which "it" is the rule: "rule 3 was passed over: it
// requires nothing".
func (w Why) String() string {
	if int(w) < len(whyTexts) && whyTexts[w] != "" {
		return whyTexts[w]
	}
	return fmt.Sprintf("Why(%d)", uint8(w))
}

// Matched reports whether a rule matched, so that Rule and Action are set.
func (m *Match) Matched() bool { return m.Rule != NoRule }

// Message describes the match in the words of the built-in controller's conditions (PFP-10): rules are numbered from 0,
// and a rule's name never appears (PFN-08). It is "" if no rule matched.
func (m *Match) Message(namespace, pod string) string {
	switch {
	case !m.Matched():
		return ""
	case m.Condition != "":
		return fmt.Sprintf("Pod %s/%s has condition %s matching %s rule at index %d",
			namespace, pod, m.Condition, m.Action, m.Rule)
	default:
		return fmt.Sprintf("Container %s for pod %s/%s failed with exit code %d matching %s rule at index %d",
			m.Container, namespace, pod, m.ExitCode, m.Action, m.Rule)
	}
}

// Evaluate finds the first rule that matches a failed pod (KEP-3329, PFP-02); with a nil policy, no rule matches.
// failIndex reports whether action FailIndex is available: the feature is enabled and the Job has backoffLimitPerIndex.
// Otherwise rules with that action do not match (BLI-34).
//
// It costs O(rules × (containers × values + conditions × patterns)). It allocates only Match.Passed, and only if the
// first rule does not match.
func Evaluate(policy *batchv1.PodFailurePolicy, pod Pod, failIndex bool) Match {
	m := Match{Rule: NoRule}
	if policy == nil {
		return m
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		why := unusable(rule, failIndex)
		if why == 0 {
			why = m.match(rule, &pod)
		}
		if why == 0 {
			m.Rule, m.Action = int32(i), rule.Action
			return m
		}
		if m.Passed == nil {
			m.Passed = make([]Passed, 0, len(policy.Rules))
		}
		m.Passed = append(m.Passed, Passed{Rule: int32(i), Why: why})
	}
	return m
}

// unusable returns why no pod can ever match the rule, or 0. It is checked before the pod, so that the same rule is
// rejected for the same reason each time.
func unusable(rule *batchv1.PodFailurePolicyRule, failIndex bool) Why {
	switch rule.Action {
	case batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount:
	case batchv1.PodFailurePolicyActionFailIndex:
		if !failIndex {
			return ActionUnavailable
		}
	default:
		return UnknownAction
	}
	if rule.OnExitCodes == nil {
		if len(rule.OnPodConditions) == 0 {
			return NoRequirement
		}
		return 0
	}
	switch rule.OnExitCodes.Operator {
	case batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn:
		return 0
	default:
		return UnknownOperator
	}
}

// match tests the rule's requirement, and records the match or returns the reason that there is none. A rule has one
// requirement; if it had two, the built-in controller would use the exit codes.
func (m *Match) match(rule *batchv1.PodFailurePolicyRule, pod *Pod) Why {
	if rule.OnExitCodes != nil {
		c, why := matchExitCodes(rule.OnExitCodes, pod.Containers)
		if why == 0 {
			m.Container, m.ExitCode = c.Name, c.ExitCode
		}
		return why
	}
	condition, why := matchConditions(rule.OnPodConditions, pod.Conditions)
	m.Condition = condition
	return why
}

// matchExitCodes finds the first failed container whose code meets the requirement
// (PFP-03). A container that ended with 0 did not fail: NotIn does not match it either.
func matchExitCodes(req *batchv1.PodFailurePolicyOnExitCodesRequirement, containers []Container) (Container, Why) {
	in := req.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn
	anyFailed := false
	for _, c := range containers {
		if c.ExitCode == 0 || req.ContainerName != nil && *req.ContainerName != c.Name {
			continue
		}
		anyFailed = true
		if slices.Contains(req.Values, c.ExitCode) == in {
			return c, 0
		}
	}
	switch {
	case anyFailed && in:
		return Container{}, CodeNotListed
	case anyFailed:
		return Container{}, CodesListed
	case req.ContainerName != nil:
		return Container{}, NamedContainerNotFailed
	default:
		return Container{}, NoFailedContainer
	}
}

// matchConditions finds the pod's first condition that equals a pattern (PFP-04). The order in the pod decides, not the
// order in the rule: the message names that condition.
func matchConditions(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, conditions []Condition) (corev1.PodConditionType, Why) {
	for _, c := range conditions {
		for _, p := range patterns {
			status := p.Status
			if status == "" { // the API server's default
				status = corev1.ConditionTrue
			}
			if p.Type == c.Type && status == c.Status {
				return c.Type, 0
			}
		}
	}
	return "", NoCondition
}
