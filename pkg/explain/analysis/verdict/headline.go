package verdict

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// addHeadline adds the parts of the short explanation: the state, its summary, and the mechanism that made failures final.
func addHeadline(in *facts.Facts, failed *failures.Failures, v *Values, out *explain.Verdict) {
	out.State, out.Summary = state(in, v), summary(in, v)
	switch {
	case in.Decision.Failing():
		out.EndedBy, out.Mechanism = endedBy(in, failed), mechanism(in, failed, v)
	case in.Decision.Reason == batchv1.JobReasonSuccessPolicy:
		if rule := v.Success.MetRule(); rule != nil {
			out.Mechanism = words.SuccessRuleEvidence(rule)
		}
	}
}

// state returns the state of the Job.
func state(in *facts.Facts, v *Values) string {
	switch b := v.Blocker; {
	case in.Decision.Decided():
		return words.OutcomeState(in.Decision.Outcome)
	case retry.IsPending(in.Job):
		return words.StateInterrupted
	case b != nil:
		return words.BlockedState(b.Kind)
	case in.Job.DeletionTimestamp != nil:
		return words.StateDeleting
	case in.Plan.Findings.Backoff != nil && activePods(in) == 0:
		return words.StateBackoff
	}
	return words.StateRunning
}

// activePods returns the number of active pods, from the status if the pods could not be read.
func activePods(in *facts.Facts) int32 {
	if in.PodsRead {
		return int32(len(in.Active))
	}
	return in.Job.Status.Active
}

// summary returns the progress of the Job. For a Job with one completion, the state is sufficient.
func summary(in *facts.Facts, v *Values) string {
	one := ptr.Deref(in.Spec.Completions, 0) == 1
	if v.Blocker != nil && v.Completed == 0 || in.Decision.Failing() && one {
		return ""
	}
	progress := progressOf(in, v.Completed)
	if !in.Decision.Decided() && one {
		progress = ""
	}
	lost := int32(in.Plan.Findings.FailedIndexes.Len())
	switch {
	case !in.Decision.Decided():
		return words.OpenSummary(progress, activePods(in), v.Accounting.Seen(), v.Accounting.CountedOwn())
	case lost > 0:
		total, done := ptr.Deref(in.Spec.Completions, 0), v.Completed
		if runs, of := retry.Progress(in.Job); runs > 0 {
			total, done = runs, of
		}
		return words.FailedIndexesSummary(lost, total, done)
	case in.Decision.Failing() && v.Completed == 0:
		return ""
	}
	return progress
}

// endedBy returns what failed the Job if it was not the failure of a pod.
func endedBy(in *facts.Facts, failed *failures.Failures) string {
	switch reason := in.Decision.Reason; {
	case reason == batchv1.JobReasonBackoffLimitExceeded && failed.Restarts.FailedJob:
		return words.Clauses(whyRestarts(&failed.Restarts, jobspec.BackoffLimit(in.Spec)))
	case reason == batchv1.JobReasonDeadlineExceeded && failed.NeverStarted != nil:
		return words.NeverStartedText(&failed.NeverStarted.Problem)
	case reason == batchv1.JobReasonDeadlineExceeded:
		return words.Clauses(append([]string{words.DeadlineText(in.Spec.ActiveDeadlineSeconds)}, outlivedClause(failed)...))
	case !knowsReason(&in.Decision):
		return words.OtherReasonText(reason, in.Decision.Message)
	}
	return ""
}

// mechanism returns the limit or the rule that made failures final.
func mechanism(in *facts.Facts, failed *failures.Failures, v *Values) string {
	lost := int32(in.Plan.Findings.FailedIndexes.Len())
	switch in.Decision.Reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		if failed.Restarts.FailedJob {
			return ""
		}
		return words.BackoffLimitMechanism(v.Accounting.Exceeding(jobspec.BackoffLimit(in.Spec)), jobspec.BackoffLimit(in.Spec))
	case batchv1.JobReasonDeadlineExceeded:
		if failed.NeverStarted != nil {
			return words.DeadlinePassed(in.Spec.ActiveDeadlineSeconds)
		}
		return ""
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		return words.MaxFailedIndexesMechanism(lost, ptr.Deref(in.Spec.MaxFailedIndexes, 0))
	case batchv1.JobReasonFailedIndexes:
		return perIndex(in, failed)
	}
	return byRule(in)
}

// perIndex explains why failed indexes have no attempts left: a rule fails all of them at once, or they have used all.
func perIndex(in *facts.Facts, failed *failures.Failures) string {
	byRule := func(g *failures.Group) bool { return g.Kind.Cause.Action == batchv1.PodFailurePolicyActionFailIndex }
	if len(failed.Decisive) > 0 && !slices.ContainsFunc(failed.Decisive, func(g *failures.Group) bool { return !byRule(g) }) {
		c := &failed.Decisive[0].Kind.Cause
		return words.FailIndexMechanism(c.Rule, c.RuleName)
	}
	return words.PerIndexMechanism(in.AllowedAttempts(0), ptr.Deref(in.Spec.BackoffLimitPerIndex, 0))
}

// byRule returns the podFailurePolicy rule that failed the Job, "" if none did. An unknown rule is not named.
func byRule(in *facts.Facts) string {
	o := &in.Decision
	if o.HasRule() && in.Spec.PodFailurePolicy != nil && int(o.Rule) < len(in.Spec.PodFailurePolicy.Rules) {
		return words.RuleEvidence(o.Rule, o.RuleName, &in.Spec.PodFailurePolicy.Rules[o.Rule])
	}
	if !o.ByRule() {
		return ""
	}
	return words.RuleText(o.Rule, o.RuleName, "", "")
}

// progressOf returns how much of the Job has succeeded: for a retry, how much of its own indexes.
func progressOf(in *facts.Facts, completed int32) string {
	if runs, done := retry.Progress(in.Job); runs > 0 {
		return words.ProgressText(done, true, &runs)
	}
	return words.ProgressText(completed, in.Indexed(), in.Spec.Completions)
}
