package verdict

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// whyFailed returns clauses on the reason of the failure.
func whyFailed(in *facts.Facts, failed *failures.Failures, v *Values) []string {
	lost := in.Plan.Findings.FailedIndexes
	switch in.Decision.Reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		limit := jobspec.BackoffLimit(in.Spec)
		if failed.Restarts.FailedJob {
			return whyRestarts(&failed.Restarts, limit)
		}
		if cause := mostly(in, failed, v.Accounting); cause != "" {
			return []string{cause, words.BackoffLimitMechanism(v.Accounting.Exceeding(limit), limit)}
		}
		return []string{words.BackoffLimitText(v.Accounting.Exceeding(limit), limit)}
	case batchv1.JobReasonDeadlineExceeded:
		if n := failed.NeverStarted; n != nil {
			return []string{words.NeverStartedText(&n.Problem), words.DeadlinePassed(in.Spec.ActiveDeadlineSeconds)}
		}
		clauses := []string{words.DeadlineText(in.Spec.ActiveDeadlineSeconds)}
		clauses = append(clauses, outlivedClause(failed)...)
		return append(clauses, mostly(in, failed, v.Accounting))
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		return []string{words.MaxFailedIndexesText(int32(lost.Len()), lost.String(), ptr.Deref(in.Spec.MaxFailedIndexes, 0)), mostly(in, failed, v.Accounting)}
	case batchv1.JobReasonFailedIndexes:
		return []string{words.FailedIndexesText(int32(lost.Len()), lost.String(), ptr.Deref(in.Spec.Completions, 0)), mostly(in, failed, v.Accounting)}
	}
	if knowsReason(&in.Decision) {
		hidden := ""
		if f := failed.Example; f != nil && f.Kind.Hidden.Container != "" {
			hidden = words.HiddenClause(&f.Kind.Hidden)
		}
		return []string{whyRule(in, failed), hidden}
	}
	return []string{words.OtherReasonText(in.Decision.Reason, in.Decision.Message)}
}

// knowsReason reports whether this project knows the reason for which the Job failed.
func knowsReason(o *facts.Decision) bool {
	switch o.Reason {
	case batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonDeadlineExceeded,
		batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonFailedIndexes:
		return true
	}
	return o.MatchedPod.Name != "" || o.HasRule() || o.ByRule()
}

// whyRestarts returns the clauses on restarts that used up the backoffLimit.
func whyRestarts(r *failures.Restarts, limit int32) []string {
	least := max(limit, 1)
	text := words.Restarts{Count: max(r.Count, least), Exact: r.Count >= least}
	switch c := r.Container; {
	case c != nil:
		if text.Exact && r.Pod.Restarts == r.Count && c.Restarts == r.Count {
			text.Container, text.Pod = c.Name, r.Pod.Name
		}
		if r.Ending != nil {
			return []string{words.RestartsText(&text, limit), words.RestartedByProbeText(r.Ending, r.ProbeMessage)}
		}
		return []string{words.RestartsText(&text, limit), words.LastExitText(&cause.Exit{Container: c.Name, ExitCode: c.ExitCode, Reason: c.Reason}, c.Message, facts.EndErrorIn(c))}
	case r.Ending != nil:
		return []string{words.RestartsText(&text, limit), words.RestartedByProbeText(r.Ending, r.ProbeMessage)}
	case r.Exit != nil:
		return []string{words.RestartsText(&text, limit), words.LastExitText(r.Exit, "", nil)}
	}
	return []string{words.RestartsText(&text, limit)}
}

// whyRule returns the clause on a rule with FailJob.
func whyRule(in *facts.Facts, failed *failures.Failures) string {
	o := &in.Decision
	matched := ""
	switch p := &o.MatchedPod; {
	case p.Name == "": // The condition's message is quoted.
	case p.Condition != "":
		matched = words.MatchedByCondition(p.Name, indexOf(in, p.Name), p.Condition, causeOfPod(in, failed, p.Name))
	case p.Container != "":
		exit, message := cause.Exit{Container: p.Container, ExitCode: p.ExitCode}, ""
		var known *meaning.KnownError
		if f := failed.Example; f != nil && f.Pod.Name == p.Name {
			exit.Reason, message, known = f.Kind.Cause.Reason, f.Message(), f.KnownError(in)
		}
		matched = words.MatchedByExit(p.Name, indexOf(in, p.Name), &exit, message, known)
	}
	return words.RuleText(o.Rule, o.RuleName, matched, o.Message)
}

// causeOfPod returns the cause of the most informative pod, nil if it is not the named pod.
func causeOfPod(in *facts.Facts, failed *failures.Failures, pod string) *explain.Cause {
	f := failed.Example
	if f == nil || f.Pod.Name != pod {
		return nil
	}
	c := (&failures.Group{Kind: f.Kind, Failures: []*failures.Failure{f}}).Cause(in)
	return &c
}

// indexOf returns the index of a pod, -1 if it has none or no longer exists.
func indexOf(in *facts.Facts, pod string) int32 {
	for _, p := range in.Pods {
		if p.Name == pod && p.Index >= 0 {
			return p.Index
		}
	}
	return -1
}

// mostly returns a clause on the most frequent cause, among the failures that failed the Job if they are known; "" if there
// is no known cause.
func mostly(in *facts.Facts, failed *failures.Failures, a *account.Accounting) string {
	causes := a.Causes
	if len(failed.Decisive) > 0 {
		causes = nil
		for _, g := range failed.Decisive {
			causes = append(causes, g.Cause(in))
		}
	}
	causes = byEnding(causes)
	var first *explain.Cause
	all, kinds := int32(0), 0
	for i := range causes {
		if c := &causes[i]; !c.Consequence {
			first = cmp.Or(first, c)
			all += c.Count
			kinds++
		}
	}
	if first == nil {
		return ""
	}
	return words.MostlyText(first, kinds, all, a.Unexplained > 0)
}

// byEnding merges causes with the same Ending, because their exit codes are no causes, and returns the most frequent first.
func byEnding(causes []explain.Cause) []explain.Cause {
	var out []explain.Cause
	for _, c := range causes {
		same := func(x explain.Cause) bool {
			return x.Ending != nil && c.Ending != nil && *x.Ending == *c.Ending && x.Consequence == c.Consequence
		}
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Count += c.Count
		} else {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(x, y explain.Cause) int { return cmp.Compare(y.Count, x.Count) })
	return out
}

// whyComplete returns a clause on the reason of the success.
func whyComplete(in *facts.Facts, v *Values, progress string) string {
	var took *int64
	if in.Decision.Outcome == reconcile.OutcomeComplete {
		took = v.DurationSeconds
	}
	var rule *explain.SuccessRule
	if in.Decision.Reason == batchv1.JobReasonSuccessPolicy {
		rule = v.Success.MetRule()
	}
	return words.CompleteText(progress, rule, took, !in.Indexed() && in.Spec.Completions == nil)
}

// outlivedClause returns a clause on the containers that kept a pod running until the Job's deadline although its work was
// done, nil if there are none.
func outlivedClause(failed *failures.Failures) []string {
	o := failed.Outlived
	if o == nil {
		return nil
	}
	return []string{words.OutlivedText(o.Pod, o.Ended, o.Exit, o.Running)}
}
