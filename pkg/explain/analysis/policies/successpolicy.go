// Package policies evaluates the policies of a Job, its limits, and its running clocks.
package policies

import (
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
)

// SuccessPolicy returns the progress of the rules, nil without a policy.
func SuccessPolicy(in *facts.Facts) *explain.SuccessPolicy {
	policy := in.Spec.SuccessPolicy
	if policy == nil {
		return nil
	}
	out := &explain.SuccessPolicy{}
	for i, p := range in.Plan.Findings.SuccessRules {
		of := ptr.Deref(policy.Rules[i].SucceededIndexes, "")
		out.Rules = append(out.Rules, explain.SuccessRule{
			Index: int32(i), Have: p.Have, Need: p.Need, Of: of, Met: p.Met, Impossible: p.Inert || p.OutOfReach, Empty: p.Inert,
		})
	}
	return out
}

// WillFail reports whether the Job can no longer succeed: an index has failed, and no successPolicy rule can still be met.
func WillFail(in *facts.Facts, success *explain.SuccessPolicy) bool {
	return in.PerIndex() && !in.Plan.Findings.FailedIndexes.IsEmpty() && !success.IsPossible()
}
