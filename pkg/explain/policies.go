package explain

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// FailurePolicy is spec.podFailurePolicy, with its effect on the pods that exist.
type FailurePolicy struct {
	Rules []FailureRule `json:"rules"`
	// Unmatched is the number of failed pods that no rule matched, and that count against backoffLimit; nil if pods could not
	// be read.
	Unmatched *int32 `json:"unmatched,omitempty"`
	// NameViolations describe invalid names of rules (KEP-4443).
	NameViolations []string `json:"nameViolations,omitempty"`
}

// FailureRule is one rule of a FailurePolicy.
type FailureRule struct {
	Index  int32  `json:"index"`
	Name   string `json:"name,omitempty"`
	Action string `json:"action"`
	// Requirement is the condition in words: "main exits with 42 or 43".
	Requirement string `json:"requirement"`
	// OnExitCodes and OnPodConditions are the condition as in the Job's spec.
	OnExitCodes     *batchv1.PodFailurePolicyOnExitCodesRequirement  `json:"onExitCodes,omitempty"`
	OnPodConditions []batchv1.PodFailurePolicyOnPodConditionsPattern `json:"onPodConditions,omitempty"`
	// Matched is the number of failed pods that the rule matched; nil if pods could not be read, or if
	// none of those that still exist matched.
	Matched *int32 `json:"matched,omitempty"`
	// PassedOver is the number of failed pods that were checked and not matched, and Why the most frequent reason.
	PassedOver int32  `json:"passedOver,omitempty"`
	Why        string `json:"why,omitempty"`
	// Decided reports whether this rule decided the outcome of the Job.
	Decided bool `json:"decided,omitempty"`
}

// SuccessPolicy is spec.successPolicy with its progress.
type SuccessPolicy struct {
	Rules []SuccessRule `json:"rules"`
}

// MetRule returns the first rule that is met, nil if none is or if there is no policy.
func (p *SuccessPolicy) MetRule() *SuccessRule {
	if p == nil {
		return nil
	}
	return lists.First(p.Rules, func(r *SuccessRule) bool { return r.Met })
}

// IsPossible reports whether any rule can still be met; false without a policy.
func (p *SuccessPolicy) IsPossible() bool {
	return p != nil && slices.ContainsFunc(p.Rules, func(r SuccessRule) bool { return !r.Impossible })
}

// SuccessRule is one rule of a SuccessPolicy.
type SuccessRule struct {
	Index int32 `json:"index"`
	// Have is the number of succeeded indexes out of Need, among the indexes Of; "" means any index.
	Have int32  `json:"have"`
	Need int32  `json:"need"`
	Of   string `json:"of,omitempty"`
	Met  bool   `json:"met,omitempty"`
	// Impossible reports whether the rule can no longer be met because too many of its indexes failed, or can never be met.
	Impossible bool `json:"impossible,omitempty"`
	// Empty is set for a rule that lists no indexes, so that it can never be met.
	Empty bool `json:"-"`
	// Text is "3 of 5 (indexes 1-9)".
	Text string `json:"text"`
}

// LimitUnit is the unit of a limit.
type LimitUnit string

// The units of limits.
const (
	LimitFailures LimitUnit = "Failures" // failed pods
	LimitRestarts LimitUnit = "Restarts" // restarts of containers, with restartPolicy OnFailure
)

// BackoffLimit is the Job's distance from spec.backoffLimit. The Job fails when there are more failures than the limit, or
// when restarts reach it: Unit is whichever is closer.
type BackoffLimit struct {
	Unit  LimitUnit `json:"unit"`
	Used  int32     `json:"used"`
	Limit int32     `json:"limit"`
	// Left is the number of the further failure or restart that fails the Job: 1 for the next one, 0 if it has happened.
	Left int32 `json:"left"`
	// NoRetries is set if no pod is created for a failed one anymore: one of a work queue has succeeded.
	NoRetries bool `json:"noRetries,omitempty"`
}
