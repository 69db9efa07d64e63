package analysis

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// backoffLimitUse is how far the Job is from its backoffLimit, nil if it has none: with
// backoffLimitPerIndex the default is the largest number there is.
func (a *analysis) backoffLimitUse() *explain.BackoffLimit {
	if a.spec.BackoffLimit == nil || *a.spec.BackoffLimit == math.MaxInt32 {
		return nil
	}
	f := a.plan.Findings.BackoffLimit
	if f == nil {
		f = a.storedBackoffLimit()
	}
	u := &explain.BackoffLimit{Unit: explain.LimitFailures, Used: f.Failures, Limit: f.Limit, Left: max(f.FailuresLeft(), 0)}
	if f.OnFailure && f.RestartsLeft() <= f.FailuresLeft() {
		u.Unit, u.Used, u.Left = explain.LimitRestarts, f.Restarts, max(f.RestartsLeft(), 0)
	}
	return u
}

// storedBackoffLimit is what the status shows if the decision core found nothing: the end of
// the Job is decided, or its pods could not be read.
func (a *analysis) storedBackoffLimit() *reconcile.BackoffLimit {
	f := &reconcile.BackoffLimit{Failures: a.job.Status.Failed + int32(a.uncountedFailed()), Limit: jobspec.BackoffLimit(a.spec)}
	if a.PodsRead && !a.finished() && a.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		f.OnFailure, f.Restarts = true, a.restarts()
	}
	if a.restartsFailedIt() {
		// The pods may be gone, but their restarts reached the limit.
		f.OnFailure, f.Restarts = true, max(f.Restarts, f.Limit, 1)
	}
	return f
}
