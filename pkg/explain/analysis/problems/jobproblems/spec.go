package jobproblems

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/successpolicy"
)

// RuleNames finds an invalid annotation of KEP-4443, which has no effect (PFN-25).
func RuleNames(in *facts.Facts) []explain.Problem {
	if len(in.Plan.Findings.Violations) == 0 {
		return nil
	}
	p := explain.Problem{Kind: explain.ProblemInvalidRuleNames}
	for _, v := range in.Plan.Findings.Violations {
		p.Details = append(p.Details, v.String())
	}
	return one(p)
}

// Impossible finds a successPolicy whose rules can no longer be met, because too many indexes have failed.
func Impossible(in *facts.Facts) []explain.Problem {
	canBeMet := func(r successpolicy.Progress) bool { return !r.Inert && !r.OutOfReach }
	if in.Spec.SuccessPolicy == nil || in.Decision.Decided() || slices.ContainsFunc(in.Plan.Findings.SuccessRules, canBeMet) {
		return nil
	}
	return one(explain.Problem{Kind: explain.ProblemSuccessImpossible})
}

// Unreadable finds values that the controller does not support, so that it ignores the Job.
func Unreadable(in *facts.Facts) []explain.Problem {
	found := &in.Plan.Findings
	switch {
	case found.UnknownMode != "":
		return one(explain.Problem{Kind: explain.ProblemUnknownMode, Blocks: true, HoldsJob: true, Asked: string(found.UnknownMode)})
	case found.BadRetryIndexes != "":
		return one(explain.Problem{Kind: explain.ProblemBadRetryIndexes, Blocks: true, HoldsJob: true, Asked: found.BadRetryIndexes})
	}
	return nil
}

// Inconsistent finds a stored status that cannot be read, or contradicts itself.
func Inconsistent(in *facts.Facts) []explain.Problem {
	var details []string
	found := &in.Plan.Findings
	if n := found.DamagedIndexes; n > 0 {
		details = append(details, words.DamagedIndexesText(n))
	}
	if f := found.CountKept; f != nil {
		details = append(details, words.CountKeptText(f.Succeeded, f.Completed))
	}
	if f := found.TooManySucceeded; f != nil {
		details = append(details, words.TooManySucceededText(f.Succeeded, f.Completions))
	}
	if len(details) == 0 {
		return nil
	}
	return one(explain.Problem{Kind: explain.ProblemInconsistent, Details: details})
}

func one(p explain.Problem) []explain.Problem { return []explain.Problem{p} }
