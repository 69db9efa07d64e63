// Package failurepolicy evaluates spec.podFailurePolicy on a failed pod: which rule
// matches first, on what evidence, and which rules were passed over (KEP-3329).
package failurepolicy

import (
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

// Pod is what rules look at of a pod in phase Failed: the containers that terminated,
// app containers before init containers, and the conditions.
type Pod struct {
	Containers []Container
	Conditions []Condition
}

// NoRule is the Rule of a Match in which no rule matched.
const NoRule int32 = -1

// Match is the outcome of an evaluation, with its evidence.
type Match struct {
	// Rule is the index of the first rule that matches, or NoRule, and Action what
	// it asks for, or "".
	Rule   int32
	Action batchv1.PodFailurePolicyAction
	// Container and ExitCode are the evidence of a rule with onExitCodes.
	Container string
	ExitCode  int32
	// Condition is the evidence of a rule with onPodConditions.
	Condition corev1.PodConditionType
	// Passed are the rules before the one that matched, or all if none did.
	Passed []Passed
}

// Passed is a rule that did not match.
type Passed struct {
	Rule int32
	Why  Why
}

// Why says why a rule did not match.
type Why uint8
