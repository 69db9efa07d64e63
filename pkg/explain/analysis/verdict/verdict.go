// Package verdict decides what the answer about a Job is: what happens to it, and why. Package words puts that into a sentence.
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
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
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
	Problems     []explain.Problem
	Blocker      *explain.Problem
	Family       *explain.Family
	BackoffLimit *explain.BackoffLimit
	Disruptions  *explain.Disruptions
}

// Of returns the verdict.
func Of(in *facts.Facts, failed *failures.Failures, v *Values) explain.Verdict {
	status, _ := facts.StatusOf(in.Job)
	out := explain.Verdict{Status: status, Outcome: in.Decision.Outcome, Stalled: v.Blocker != nil}
	a := &words.Answer{
		Verdict: &out, Now: in.Now, Progress: progressOf(in, v.Completed), Completed: v.Completed, Completions: in.Spec.Completions,
		Failed: int32(in.Plan.Findings.FailedIndexes.Len()), Blocker: v.Blocker, TTL: ptr.Deref(in.Spec.TTLSecondsAfterFinished, 0),
	}
	if a.Restart = facts.RestartOf(in); a.Restart != "" || facts.IsCreatedAgain(in) {
		a.Earlier = facts.EarlierOf(in)
	}
	if a.Due = input.ScheduledFor(in.Job); !a.Due.IsZero() {
		a.Late = in.Job.CreationTimestamp.Sub(a.Due)
	}
	if in.Decision.Decided() {
		out.End = endOf(in, failed, v)
		addEnd(in, failed, v, a)
	} else {
		addPresent(in, failed, v, a)
	}
	words.FillInVerdict(a)
	return out
}

// progressOf returns how much of the Job has succeeded: for a retry, how much of its own indexes.
func progressOf(in *facts.Facts, completed int32) words.Progress {
	if runs, done := retry.Progress(in.Job); runs > 0 {
		return words.Progress{Done: done, Of: &runs, Indexed: true}
	}
	return words.Progress{Done: completed, Of: in.Spec.Completions, Indexed: in.Indexed()}
}

// addPresent adds what happens to a Job whose outcome is open, and the position of the problem that the verdict names.
func addPresent(in *facts.Facts, failed *failures.Failures, v *Values, a *words.Answer) {
	a.Active, a.Failures, a.BackoffLimit = in.Job.Status.Active, v.Accounting.Seen(), v.BackoffLimit
	if in.PodsRead {
		a.Active = int32(len(in.Active))
	}
	if f := in.Plan.Findings.Backoff; f != nil {
		a.Backoff = ptr.To(f.Until.Sub(in.Now))
	}
	a.Deleting, a.Parallelism = in.Job.DeletionTimestamp != nil, jobspec.Parallelism(in.Spec)
	if oldest, age := facts.UnlimitedRun(in); oldest != nil {
		a.Unlimited, a.InOldest = age, oldest.Lineup.Running()
		if len(oldest.Lineup) == 0 {
			a.InOldest = in.MainContainers()
		}
	}
	_, a.HelmGaveUp = facts.HelmGaveUp(in)
	a.Progress.QueueEnds = in.QueueEnds() && a.Failures > 0
	switch {
	case retry.IsPending(in.Job):
		a.RetryOf = retry.RootOf(in.Job)
		return
	case a.Blocker != nil:
		a.Problem = placeOf(a.Blocker, v.Problems)
		return
	case a.Deleting:
		return
	}

	// Pods run, or there is a back-off.
	if a.Failures > 0 {
		a.Mostly = mostly(in, failed, v.Accounting)
	}
	if a.Backoff != nil && a.Active == 0 {
		return
	}
	a.WillFail = policies.WillFail(in, v.Success)
	if b := indexes.BackoffOf(in); !b.Indexes.IsEmpty() {
		a.IndexBackoff = &words.IndexBackoff{Indexes: int32(b.Indexes.Len()), Left: b.Until.Sub(in.Now), Certain: !b.NoRoom}
	}
	addBeside(v.Problems, a)
}

// addBeside adds the problem of a Job that goes on: one that blocks, or else one that repeats.
func addBeside(problems []explain.Problem, a *words.Answer) {
	for _, beside := range []func(*explain.Problem) bool{
		func(p *explain.Problem) bool { return p.Blocks },
		func(p *explain.Problem) bool {
			return slices.Contains([]explain.ProblemKind{
				explain.ProblemErrorRepeated, explain.ProblemWaits, explain.ProblemSilent, explain.ProblemRestarted, explain.ProblemPodsLost, explain.ProblemContainerEnded,
			}, p.Kind)
		},
	} {
		for i := range problems {
			if a.Beside == nil && beside(&problems[i]) {
				a.Beside, a.Problem = &problems[i], ptr.To(int32(i))
			}
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

// addEnd adds what explains the end of a Job whose outcome is decided, besides its End.
func addEnd(in *facts.Facts, failed *failures.Failures, v *Values, a *words.Answer) {
	if in.Decision.Failing() {
		a.Matched = matchedPod(in, failed)
		if a.EndedBy != explain.EndedByRestarts && a.EndedBy != explain.EndedByOther { // No pod failure explains these.
			a.Mostly = mostly(in, failed, v.Accounting)
		}
		if f := failed.Example; f != nil && f.Kind.Hidden.Container != "" {
			a.Hidden = &f.Kind.Hidden
		}
		if in.Finished() && continues(in, v.Family) {
			a.Rest = v.Family
		}
	} else {
		addSuccess(in, failed, v, a)
	}

	// Problems of such a Job: its doubtful result if it succeeded, pods that keep it from its end, or its deletion. The verdict names the last of them.
	for i := range v.Problems {
		p := &v.Problems[i]
		doubtful := (p.Kind == explain.ProblemProcessOOMKilled || p.Kind == explain.ProblemErrorHidden) && !in.Decision.Failing()
		unrecorded := p.Kind == explain.ProblemFinalizerStuck && p.HoldsJob
		if doubtful || unrecorded || jobproblems.HoldsEndedJob(in, p) {
			a.Reservations, a.Problem = append(a.Reservations, p), ptr.To(int32(i))
		}
	}
}

// addSuccess adds what explains the success of a Job, and the failures before it.
func addSuccess(in *facts.Facts, failed *failures.Failures, v *Values, a *words.Answer) {
	if a.Failures = v.Accounting.CountedOwn(); a.Failures > 0 {
		a.Mostly = mostly(in, failed, v.Accounting)
	}
	a.IsQueue = !in.Indexed() && in.Spec.Completions == nil
	if in.Decision.Outcome == reconcile.OutcomeComplete {
		a.Seconds, a.Stay = v.DurationSeconds, facts.StayOf(in)
		_, a.HelmGaveUp = facts.HelmGaveUp(in)
		if in.PodsRead && len(in.Pods) == 0 && in.Job.DeletionTimestamp == nil {
			a.Gone, a.Taken = v.Completed, v.Disruptions
		}
	}
	if a.EndedBy == explain.EndedBySuccessPolicy {
		a.SuccessRule = v.Success.MetRule()
	}
}

// continues reports whether the family's retries may run the rest of the failed Job. The Job does not count as one that was
// continued if another of the family was complete before it: it only ran selected indexes again.
func continues(in *facts.Facts, f *explain.Family) bool {
	return f != nil && !slices.ContainsFunc(f.Members, func(m explain.FamilyMember) bool {
		return m.Name == f.CompletedBy && m.Attempt < retry.AttemptOf(in.Job)
	})
}
