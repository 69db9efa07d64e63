package policies

import (
	"math"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// BackoffLimit returns the distance from the backoffLimit, nil if there is no limit: with backoffLimitPerIndex the default
// is the largest int32.
func BackoffLimit(in *facts.Facts, failed *failures.Failures, a *account.Accounting) *explain.BackoffLimit {
	if in.Spec.BackoffLimit == nil || *in.Spec.BackoffLimit == math.MaxInt32 {
		return nil
	}
	f := in.Plan.Findings.BackoffLimit
	if f == nil { // The outcome is decided, or the pods could not be read: the status has numbers.
		f = &reconcile.BackoffLimit{Failures: in.CountedFailures(), Limit: jobspec.BackoffLimit(in.Spec)}
		if in.PodsRead && !in.Finished() && in.RestartsCount() {
			f.OnFailure, f.Restarts = true, failed.Restarts.Count
		}
		if failed.Restarts.FailedJob { // The pods may no longer exist, but their restarts reached the limit.
			f.OnFailure, f.Restarts = true, max(f.Restarts, f.Limit, 1)
		}
	}
	u := &explain.BackoffLimit{Unit: explain.LimitFailures, Used: f.Failures, Limit: f.Limit, Left: max(f.FailuresLeft(), 0)}
	u.NoRetries = in.QueueEnds() && !in.RestartsCount()
	if in.Decision.Decided() {
		// Pods that were stopped after the outcome was decided did not use up the limit.
		u.Used = a.CountedOwn()
		if in.Decision.EndedBy == explain.EndedByBackoffLimit {
			u.Used = a.Exceeding(u.Limit)
		}
		u.Left = max(u.Limit-u.Used+1, 0)
	}
	if f.OnFailure && f.RestartsLeft() <= f.FailuresLeft() {
		u.Unit, u.Used, u.Left = explain.LimitRestarts, f.Restarts, max(f.RestartsLeft(), 0)
	}
	return u
}
