package checker

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/successpolicy"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// unexplained checks the outcome that a plan decides, and returns what is missing: evidence in the findings, or a
// condition with the same reason and message.
func unexplained(o reconcile.Observation, plan reconcile.Plan) (missing []string) {
	end := plan.Findings.Outcome
	if end == nil || history.IsDecided(o.Job) || plan.Findings.WaitFinish != nil {
		return nil
	}
	if !hasEvidence(o, &plan.Findings) {
		missing = append(missing, fmt.Sprintf("no finding is evidence for %+v; there are %v", *end, plan.Findings.Lines(o.Now)))
	}
	if plan.Status == nil || !slices.ContainsFunc(plan.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && c.Reason == end.Reason && c.Message == end.Message
	}) {
		missing = append(missing, fmt.Sprintf("no condition says %+v", *end))
	}
	return missing
}

// pastLimit reports whether the failures exceed the limit; container restarts need only reach it (JOB-16).
func pastLimit(job *batchv1.Job, b *reconcile.BackoffLimit) bool {
	restarts := job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
	return b != nil && (b.Failures > b.Limit || restarts && b.Restarts > 0 && b.Restarts >= b.Limit)
}

// hasEvidence reports whether the findings contain the evidence for the outcome's reason.
func hasEvidence(o reconcile.Observation, f *reconcile.Findings) bool {
	switch reason := f.Outcome.Reason; {
	case reason == batchv1.JobReasonBackoffLimitExceeded:
		return pastLimit(o.Job, f.BackoffLimit)
	case reason == batchv1.JobReasonDeadlineExceeded:
		return !f.Deadline.IsZero() && !o.Now.Before(f.Deadline)
	case reason == batchv1.JobReasonMaxFailedIndexesExceeded:
		m := f.MaxFailedIndexes
		return m != nil && m.Failed > m.Limit
	case reason == batchv1.JobReasonFailedIndexes:
		return !f.FailedIndexes.IsEmpty()
	case reason == batchv1.JobReasonSuccessPolicy:
		return slices.ContainsFunc(f.SuccessRules, func(p successpolicy.Progress) bool { return p.Met })
	case strings.HasPrefix(reason, batchv1.JobReasonPodFailurePolicy):
		return slices.ContainsFunc(f.Verdicts, func(p reconcile.FailedPod) bool {
			return p.Match != nil && p.Match.Action == batchv1.PodFailurePolicyActionFailJob
		})
	}
	return true // The counts of the status are the evidence.
}
