package policies

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// FailurePolicy returns the table of the rules, nil without a policy.
func FailurePolicy(in *facts.Facts, failed *failures.Failures) *explain.FailurePolicy {
	policy := in.Spec.PodFailurePolicy
	if policy == nil {
		return nil
	}
	out := &explain.FailurePolicy{}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		out.Rules = append(out.Rules, explain.FailureRule{
			Index: int32(i), Name: in.Names.Name(int32(i)), Action: string(rule.Action),
			OnExitCodes: rule.OnExitCodes, OnPodConditions: rule.OnPodConditions,
			Decided: in.Decision.Failing() && in.Decision.Rule == int32(i),
		})
	}
	for _, v := range in.Plan.Findings.Violations {
		out.NameViolations = append(out.NameViolations, v.String())
	}
	if !in.PodsRead {
		return out
	}

	// How many failed pods each rule matched, and the reasons why it did not match others.
	out.Unmatched = new(int32)
	for i := range out.Rules {
		out.Rules[i].Matched = new(int32)
	}
	whys := make([]map[failurepolicy.Why]int, len(out.Rules))
	for i := range failed.All {
		m := failed.All[i].Match
		if m == nil {
			continue
		}
		if m.Matched() {
			*out.Rules[m.Rule].Matched++
		} else {
			*out.Unmatched++
		}
		for _, p := range m.Passed {
			out.Rules[p.Rule].PassedOver++
			if whys[p.Rule] == nil {
				whys[p.Rule] = map[failurepolicy.Why]int{}
			}
			whys[p.Rule][p.Why]++
		}
	}
	for i, counts := range whys {
		out.Rules[i].Why = mostFrequent(counts)
		if out.Rules[i].Decided {
			*out.Rules[i].Matched = max(*out.Rules[i].Matched, 1) // The pod may no longer exist.
		}
	}
	if in.CountedFailures() > 0 && len(in.Pods) == 0 || len(in.Lost()) > 0 {
		forgetNone(out)
	}
	return out
}

// forgetNone removes the counts of 0, which are unknown if pods are gone.
func forgetNone(p *explain.FailurePolicy) {
	known := func(n *int32) *int32 {
		if *n == 0 {
			return nil
		}
		return n
	}
	p.Unmatched = known(p.Unmatched)
	for i := range p.Rules {
		p.Rules[i].Matched = known(p.Rules[i].Matched)
	}
}

func mostFrequent(counts map[failurepolicy.Why]int) string {
	var best failurepolicy.Why
	for why, n := range counts {
		if n > counts[best] || n == counts[best] && why < best {
			best = why
		}
	}
	if best == 0 {
		return ""
	}
	return best.String()
}
