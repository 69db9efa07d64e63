package explain

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
)

// FailurePolicy is spec.podFailurePolicy, with what happened to the pods that exist.
type FailurePolicy struct {
	Rules []FailureRule `json:"rules"`
	// Unmatched is how many failed pods no rule matched: they count against backoffLimit; nil if
	// pods could not be read.
	Unmatched *int32 `json:"unmatched,omitempty"`
	// NameViolations are what is wrong with the names of the rules (KEP-4443).
	NameViolations []string `json:"nameViolations,omitempty"`
}

// FailureRule is one rule.
type FailureRule struct {
	Index  int32  `json:"index"`
	Name   string `json:"name,omitempty"`
	Action string `json:"action"`
	// Requirement is the condition in words: "main exits with 42 or 43".
	Requirement string `json:"requirement"`
	// OnExitCodes and OnPodConditions are the condition as the Job has it.
	OnExitCodes     *batchv1.PodFailurePolicyOnExitCodesRequirement  `json:"onExitCodes,omitempty"`
	OnPodConditions []batchv1.PodFailurePolicyOnPodConditionsPattern `json:"onPodConditions,omitempty"`
	// Matched is how many of the failed pods it matched; nil if pods could not be read.
	Matched *int32 `json:"matched,omitempty"`
	// PassedOver is how many it was checked against but did not match, and Why the most frequent reason.
	PassedOver int32  `json:"passedOver,omitempty"`
	Why        string `json:"why,omitempty"`
	// Decided reports whether this rule decided the outcome of the Job.
	Decided bool `json:"decided,omitempty"`
}

// SuccessPolicy is spec.successPolicy with its progress.
type SuccessPolicy struct {
	Rules []SuccessRule `json:"rules"`
}

// MetRule is the first rule that is met, nil if none is or if there is no policy.
func (p *SuccessPolicy) MetRule() *SuccessRule {
	if p == nil {
		return nil
	}
	for i := range p.Rules {
		if p.Rules[i].Met {
			return &p.Rules[i]
		}
	}
	return nil
}

// IsPossible reports whether one of the rules can still be met; false without a policy.
func (p *SuccessPolicy) IsPossible() bool {
	return p != nil && slices.ContainsFunc(p.Rules, func(r SuccessRule) bool { return !r.Impossible })
}

// SuccessRule is one rule.
type SuccessRule struct {
	Index int32 `json:"index"`
	// Have of Need indexes have succeeded, of those in Of; "" for any.
	Have int32  `json:"have"`
	Need int32  `json:"need"`
	Of   string `json:"of,omitempty"`
	Met  bool   `json:"met,omitempty"`
	// Impossible reports whether too many of its indexes have failed, or whether it can never be met.
	Impossible bool `json:"impossible,omitempty"`
	// Empty is set for a rule that lists no indexes, so that it can never be met.
	Empty bool `json:"-"`
	// Text is "3 of 5 (indexes 1-9)".
	Text string `json:"text"`
}

// LimitUnit is what a limit counts.
type LimitUnit string

// What limits count.
const (
	LimitFailures LimitUnit = "Failures" // failed pods
	LimitRestarts LimitUnit = "Restarts" // of containers, with restartPolicy OnFailure
)

// BackoffLimit is how far the Job is from spec.backoffLimit. The Job fails when there are more
// failures than the limit, or when restarts reach it: Unit is what comes nearer.
type BackoffLimit struct {
	Unit  LimitUnit `json:"unit"`
	Used  int32     `json:"used"`
	Limit int32     `json:"limit"`
	// Left is which further failure or restart fails the Job: 1 for the next one, 0 if it
	// has happened.
	Left int32 `json:"left"`
}
