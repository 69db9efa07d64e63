// Package evidence builds the chain behind the end of a Job: the condition, its limit or rule, the most informative pod,
// its container, its termination message, and the end of its log.
package evidence

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Values are the inputs of the chain besides the facts and the failures.
type Values struct {
	Accounting *account.Accounting
	// Limit describes the limit of the spec that ended the Job, "" if it is unknown.
	Limit  string
	Policy *explain.FailurePolicy
}

// Links returns the links of the chain. A report on a part of the Job, or on a running Job with failures, has only the lower part: pods,
// containers and events.
func Links(in *facts.Facts, failed *failures.Failures, v *Values, o explain.Options) []explain.Evidence {
	var chain []explain.Evidence
	end := &in.Decision
	if !o.IsNarrow() {
		chain = conditionEvidence(in)
		if v.Limit != "" {
			chain = append(chain, explain.Evidence{Kind: explain.EvidenceLimit, Text: v.Limit})
		}
		if end.Failing() && end.HasRule() {
			chain = append(chain, ruleLink(in, &v.Policy.Rules[end.Rule]))
		}
	}
	if end.Decided() && !end.Failing() {
		return chain
	}
	example := failed.Example
	if example == nil {
		if loop := loopLinks(in, o); len(loop) > 0 && !end.Decided() {
			return append(chain, loop...)
		}
		if end.Failing() || in.Job.Status.Failed > 0 {
			chain = append(chain, missingEvidence(in, failed, v.Accounting, o)...)
		}
		return chain
	}
	if example.Matched() && example.Match.Rule != end.Rule {
		chain = append(chain, ruleLink(in, &v.Policy.Rules[example.Match.Rule]))
	}
	return append(chain, podEvidence(in, example)...)
}

func conditionEvidence(in *facts.Facts) []explain.Evidence {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		if c := reconcile.TrueCondition(in.Job, t); c != nil {
			return []explain.Evidence{{
				Kind: explain.EvidenceCondition, Text: words.ConditionEvidence(c), Condition: string(t), Reason: c.Reason, Time: explain.TimeOf(c.LastTransitionTime.Time),
			}}
		}
	}
	return nil
}

// ruleLink describes a rule of the podFailurePolicy, by the name that it had when it failed the Job.
func ruleLink(in *facts.Facts, rule *explain.FailureRule) explain.Evidence {
	name := rule.Name
	if rule.Index == in.Decision.Rule {
		name = cmp.Or(name, in.Decision.RuleName)
	}
	return explain.Evidence{Kind: explain.EvidenceRule, Rule: ptr.To(rule.Index), RuleName: name, Text: words.RuleEvidence(rule, name)}
}
