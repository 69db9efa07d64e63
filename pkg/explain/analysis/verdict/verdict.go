// Package verdict explains in one sentence what happens to a Job, and why.
package verdict

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/indexes"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/policies"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/problems/jobproblems"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// Values are the inputs of the verdict besides the facts and the failures.
type Values struct {
	Accounting *account.Accounting
	// Completed is the number in the report's Counts, and DurationSeconds the number in its Job.
	Completed       int32
	DurationSeconds *int64
	Success         *explain.SuccessPolicy
	Reconciler      *explain.Reconciler
	// Blocker is the problem in Problems that holds up the Job, nil if there is none.
	Problems []explain.Problem
	Blocker  *explain.Problem
	Family   *explain.Family
}

// Reach returns the verdict.
func Reach(in *facts.Facts, failed *failures.Failures, v *Values) explain.Verdict {
	status, _ := facts.StatusOf(in.Job)
	out := explain.Verdict{Status: status, Outcome: in.Decision.Outcome, Reason: in.Decision.Reason, Message: in.Decision.Message, Stalled: v.Blocker != nil}
	out.Rule, out.RuleName = in.Decision.FailedBy()
	progress := progressOf(in, v.Completed)

	// The answer: why the outcome is decided, or what happens.
	var why []string
	switch {
	case in.Decision.Failing():
		why = whyFailed(in, failed, v)
		out.ReasonFirst = !knowsReason(&in.Decision) && in.Decision.Message != ""
	case in.Decision.Decided():
		why = []string{whyComplete(in, v, progress)}
	default:
		out.Clauses, out.Problem = whatHappens(in, failed, v, progress)
	}
	if len(why) > 0 {
		out.Why, out.Clauses = words.Clauses(why), slices.Clone(why)
		out.Clauses[0] = words.DecidedText(in.Decision.Outcome, out.Clauses[0])
	}

	// Additions.
	if in.Decision.Failing() && v.Completed > 0 {
		out.Progress = progress
		out.Clauses = append(out.Clauses, progress)
	}
	if in.Decision.Failing() && in.Finished() {
		out.Clauses = append(out.Clauses, restInFamily(in, v.Family))
	}
	addReservations(in, &out, v.Problems)
	if in.Decision.Decided() && !in.Finished() {
		out.WaitsFor = waitsFor(in, v.Reconciler)
		out.Clauses = append(out.Clauses, words.WaitsClause(out.WaitsFor))
	}

	out.Clauses = slices.DeleteFunc(out.Clauses, func(c string) bool { return c == "" })
	out.Sentence = words.FullStop(words.Clauses(out.Clauses))
	addHeadline(in, failed, v, &out)
	return out
}

// whatHappens returns the verdict on a Job whose outcome is open, and the position of the problem that it names.
func whatHappens(in *facts.Facts, failed *failures.Failures, v *Values, progress string) (clauses []string, problem *int32) {
	switch b := v.Blocker; {
	case retry.IsPending(in.Job):
		return []string{words.InterruptedText(retry.RootOf(in.Job))}, nil
	case b != nil:
		return []string{words.BlockedText(b, in.Now), words.ProblemNote(b)}, placeOf(b, v.Problems)
	case in.Job.DeletionTimestamp != nil:
		return []string{words.BeingDeleted}, nil
	}
	return whatRuns(in, failed, v, progress)
}

// addReservations adds problems of a Job whose outcome is decided: its doubtful result if it succeeded, or its deletion.
// out.Problem is the position of the last of them.
func addReservations(in *facts.Facts, out *explain.Verdict, all []explain.Problem) {
	for i := 0; in.Decision.Decided() && i < len(all); i++ {
		p := &all[i]
		doubtful := p.Kind == explain.ProblemProcessOOMKilled && !in.Decision.Failing()
		if doubtful || jobproblems.HoldsEndedJob(in, p) {
			out.Clauses, out.Problem = append(out.Clauses, p.Text), ptr.To(int32(i))
		}
	}
}

// placeOf returns the position of p in all.
func placeOf(p *explain.Problem, all []explain.Problem) *int32 {
	for i := range all {
		if &all[i] == p {
			return ptr.To(int32(i))
		}
	}
	return nil
}

// whatRuns returns the verdict on a Job that is running.
func whatRuns(in *facts.Facts, failed *failures.Failures, v *Values, progress string) (clauses []string, problem *int32) {
	active := in.Job.Status.Active
	if in.PodsRead {
		active = int32(len(in.Active))
	}
	seen, mostlyFailed := v.Accounting.Seen(), ""
	if seen > 0 {
		mostlyFailed = mostly(in, failed, v.Accounting)
	}
	failedText := words.FailedText(seen, v.Accounting.CountedOwn())
	if f := in.Plan.Findings.Backoff; f != nil && active == 0 {
		return []string{words.BackoffText(f.Until.Sub(in.Now), progress, failedText), mostlyFailed}, nil
	}

	clauses = []string{words.RunningText(progress, active, failedText), mostlyFailed}
	if policies.WillFail(in, v.Success) {
		clauses = append(clauses, words.WillFailText(int32(in.Plan.Findings.FailedIndexes.Len())))
	}
	if b := indexes.BackoffOf(in); !b.Indexes.IsEmpty() {
		clauses = append(clauses, words.IndexBackoffText(int32(b.Indexes.Len()), b.Until.Sub(in.Now), !b.NoRoom))
	}
	blocks := func(p explain.Problem) bool { return p.Blocks }
	if i := slices.IndexFunc(v.Problems, blocks); i >= 0 {
		return append(clauses, words.ButText(&v.Problems[i])), ptr.To(int32(i))
	}
	return clauses, nil
}

// waitsFor returns what the terminal condition waits for.
func waitsFor(in *facts.Facts, r *explain.Reconciler) string {
	if !in.PodsRead {
		return words.WaitsForText(in.Job.Status.Active, ptr.Deref(in.Job.Status.Terminating, 0), 0, r.Name())
	}
	w := ptr.Deref(in.Plan.Findings.WaitFinish, reconcile.WaitFinish{})
	return words.WaitsForText(w.Active, w.Terminating, w.Ended, r.Name())
}

// restInFamily describes how retries run the rest of the failed Job, "" if none does.
func restInFamily(in *facts.Facts, f *explain.Family) string {
	if f == nil {
		return ""
	}
	before := func(m explain.FamilyMember) bool {
		return m.Name == f.CompletedBy && m.Attempt < retry.AttemptOf(in.Job)
	}
	if slices.ContainsFunc(f.Members, before) {
		return "" // It only ran selected indexes again.
	}
	return words.RestText(f)
}
