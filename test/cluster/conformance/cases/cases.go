// Package cases has the promises of the Jobs API that the conformance suite checks: one file for each part of the API,
// and histories.go for the rules that hold in all cases.
package cases

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
)

// All returns all cases.
func All() []suite.Case {
	return slices.Concat(completion, tracking, indexed, perIndex, failurePolicy, successPolicy, replacement,
		suspend, elastic, limits, ownership, deletion, managedBy, histories)
}
