// Package evidence builds the chain behind the end of a Job: the condition, its limit or rule, the most informative pod,
// its container, and its last words.
package evidence

import (
	"cmp"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// Values are the inputs of the chain besides the facts and the failures.
type Values struct {
	Accounting *account.Accounting
	// Completed is the number in the report's Counts.
	Completed int32
	Success   *explain.SuccessPolicy
}

// Chain returns the chain. A report on a part of the Job, or on a running Job with failures, has only the lower part: pods,
// containers and events.
func Chain(in *facts.Facts, failed *failures.Failures, v *Values, o explain.Options) []explain.Evidence {
	var chain []explain.Evidence
	end := &in.Decision
	if !o.IsNarrow() {
		chain = conditionEvidence(in)
		if text := limitText(in, failed, v); text != "" {
			chain = append(chain, explain.Evidence{Kind: explain.EvidenceLimit, Text: text})
		}
		policy := in.Spec.PodFailurePolicy
		if end.Failing() && end.Rule >= 0 && policy != nil && int(end.Rule) < len(policy.Rules) { // The policy may have changed.
			chain = append(chain, ruleEvidence(in, end.Rule))
		}
	}
	if end.Decided() && !end.Failing() {
		return chain
	}
	example := failed.Example
	if example == nil {
		if end.Failing() || in.Job.Status.Failed > 0 {
			chain = append(chain, missingEvidence(in, failed, v.Accounting, o)...)
		}
		return chain
	}
	if example.Matched() && example.Match.Rule != end.Rule {
		chain = append(chain, ruleEvidence(in, example.Match.Rule))
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

// limitText describes the limit of the spec that was exceeded, "" for none or an unknown limit.
func limitText(in *facts.Facts, failed *failures.Failures, v *Values) string {
	spec, counted, lost := in.Spec, in.CountedFailures(), in.Plan.Findings.FailedIndexes
	switch in.Decision.Reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		limit := jobspec.BackoffLimit(spec)
		if !in.RestartsCount() {
			return words.BackoffLimitEvidence(limit, v.Accounting.Exceeding(limit))
		}
		restarts := failed.Restarts.Count
		if restarts < max(limit, 1) {
			restarts = 0
		}
		return words.RestartsEvidence(limit, restarts, counted)
	case batchv1.JobReasonDeadlineExceeded:
		if spec.ActiveDeadlineSeconds != nil {
			return words.DeadlineEvidence(*spec.ActiveDeadlineSeconds, ranUntilDecided(in))
		}
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		return words.MaxFailedIndexesEvidence(ptr.Deref(spec.MaxFailedIndexes, 0), int32(lost.Len()), lost.String())
	case batchv1.JobReasonFailedIndexes:
		return words.FailedIndexesEvidence(int32(lost.Len()), lost.String(), ptr.Deref(spec.Completions, 0), in.AllowedAttempts(0), ptr.Deref(spec.BackoffLimitPerIndex, 0))
	case batchv1.JobReasonSuccessPolicy:
		if r := v.Success.MetRule(); r != nil {
			return words.SuccessRuleEvidence(r)
		}
	case batchv1.JobReasonCompletionsReached:
		if spec.Completions != nil {
			return words.CompletionsEvidence(*spec.Completions, v.Completed)
		}
	}
	return ""
}

// ranUntilDecided returns how long the Job ran before its outcome was decided, nil if it is unknown.
func ranUntilDecided(in *facts.Facts) *time.Duration {
	start := in.Job.Status.StartTime
	if start.IsZero() || in.Decision.Since.IsZero() {
		return nil
	}
	return ptr.To(in.Decision.Since.Sub(start.Time))
}

func ruleEvidence(in *facts.Facts, index int32) explain.Evidence {
	rule := &in.Spec.PodFailurePolicy.Rules[index]
	name := in.Names.Name(index)
	if index == in.Decision.Rule {
		name = cmp.Or(name, in.Decision.RuleName)
	}
	return explain.Evidence{Kind: explain.EvidenceRule, Rule: ptr.To(index), RuleName: name, Text: words.RuleEvidence(index, name, rule)}
}
