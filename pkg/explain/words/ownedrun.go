package words

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// RunOf returns the report on a Job of a CronJob or JobSet in short.
func RunOf(r *explain.Report, now time.Time) explain.OwnedRun {
	run := explain.OwnedRun{Name: r.Job.Name, State: explain.OwnedRunning, Since: r.Job.Created, Started: r.Job.Started, Finished: r.Job.Finished}
	if at := r.Verdict.Problem; at != nil && *at >= 0 && int(*at) < len(r.Problems) {
		p := &r.Problems[*at]
		run.Since = cmp.Or(p.Since, run.Since)
		if p.Kind != explain.ProblemSuspended || p.Suspension.Owner == nil { // The owner is the one whose report this is for.
			run.Cause = problemOfSeveral(p, now)
			if p.Start.Error == nil {
				run.Cause = wording.Join(": ", run.Cause, p.Run.LastLine)
			}
		}
	}
	switch v := &r.Verdict; {
	case v.Outcome.Fails():
		run.State, run.Since, run.Cause = explain.OwnedFailed, cmp.Or(r.Job.Finished, r.Job.Created), EndHeadline(v)
		if v.Cause != nil {
			run.Cause = wording.Join("; ", run.Cause, decidingText(r))
		}
		run.Cause = cmp.Or(run.Cause, v.Why)
	case v.Outcome.Succeeds():
		run.State, run.Since, run.Cause = explain.OwnedSucceeded, cmp.Or(r.Job.Finished, r.Job.Created), ""
	case r.Job.Suspend:
		run.State = explain.OwnedSuspended
	case v.Stalled:
		run.State = explain.OwnedStalled
	}
	return run
}

// decidingText returns the cause that decided the end of a Job, with what the program said if its pods failed for no other one.
func decidingText(r *explain.Report) string {
	own := slices.DeleteFunc(slices.Clone(r.Causes), func(c explain.Cause) bool { return c.IsStopped() })
	if len(own) == 1 && own[0].Container == r.Verdict.Cause.Container {
		return LowerFirst(CauseSentence(&own[0]))
	}
	return r.Verdict.Cause.Text
}

// RunOfOutline returns a Job of a CronJob in short, with the cause that lists have.
func RunOfOutline(o *explain.Outline, now time.Time) explain.OwnedRun {
	run := explain.OwnedRun{
		Name: o.Name, State: explain.OwnedRunning, Since: o.Created, Cause: Why(o, now, MostWhy), Started: o.Started, Finished: o.Finished,
	}
	switch {
	case o.Outcome.Fails():
		run.State, run.Since = explain.OwnedFailed, cmp.Or(o.Finished, o.Created)
	case o.Outcome.Succeeds():
		run.State, run.Since, run.Cause = explain.OwnedSucceeded, cmp.Or(o.Finished, o.Created), ""
	case o.Status == string(batchv1.JobSuspended):
		run.State = explain.OwnedSuspended
	case o.Stalled != nil:
		run.State, run.Since, run.Cause = explain.OwnedStalled, cmp.Or(o.Stalled.Since, o.Created), o.Stalled.Text
	}
	return run
}

// runText says what became of a Job: "is stalled for 3h: container main …"; the cause is shortened to fit into the rest
// of a sentence that is so long already.
func runText(run *explain.OwnedRun, now time.Time, used int) string {
	since, ago := "", ""
	if run.Since != nil {
		age := wording.Age(now.Sub(run.Since.Time))
		since, ago = " for "+age, " "+age+" ago"
	}
	text := map[explain.OwnedState]string{
		explain.OwnedRunning:   "has been running" + since,
		explain.OwnedStalled:   "is stalled" + since,
		explain.OwnedSuspended: "is suspended" + since,
		explain.OwnedSucceeded: "succeeded" + ago,
		explain.OwnedFailed:    "failed" + ago,
		explain.OwnedUnknown:   "no longer exists",
	}[run.State]
	if run.Cause == "" {
		return text
	}
	return text + ": " + causeWithin(run.Cause, maxSentence-used-len(text)-3)
}

// causeWithin returns the cause in at most so many characters, and no fewer than say anything.
func causeWithin(cause string, most int) string {
	const least = 40
	return wording.Shorten(OneLine([]string{cause}), max(most, least))
}
