package words

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// startsText says when the CronJob starts Jobs, in words and with the schedule: */90 as minutes means each hour.
func startsText(r *explain.CronJobReport) string {
	schedule := wording.Join(", ", wording.Cut(r.Schedule, maxSchedule), strings.TrimPrefix(r.TimeZone, "Etc/UTC"))
	if r.ZoneAssumed {
		schedule += ", no timeZone: usually UTC"
	}
	switch {
	case r.EitherDay:
		return fmt.Sprintf("starts a Job %s (%s; one of the two kinds of days is enough)", r.ScheduleText, schedule)
	case r.ScheduleText == "" || len(r.ScheduleText) > maxSchedule:
		return "starts its Jobs (schedule " + schedule + ")"
	}
	return fmt.Sprintf("starts a Job %s (%s)", r.ScheduleText, schedule)
}

// byHandText describes a Job that a user created, and that is newer than those of the schedule.
func byHandText(r *explain.CronJobReport, now time.Time) (what, why string) {
	start := "runs its schedule; "
	if r.LastSchedule == nil {
		start = "has started no Job on its schedule; "
	}
	return start + r.ByHand.Name + ", created by hand, " + runText(r.ByHand, now), r.ByHand.Cause
}

// replacesText describes a CronJob whose starts end the runs before they have ended by themselves.
func replacesText(r *explain.CronJobReport, now time.Time) (what, why string) {
	text := fmt.Sprintf("deletes each run at the next start, before it has ended (concurrencyPolicy Replace): %s so far",
		wording.Plural(r.Replaced, "Job", "Jobs"))
	if run := r.Last; run != nil && run.Name != "" && run.State != explain.OwnedRunning {
		return text + "; the last, " + run.Name + ", " + runText(run, now), run.Cause
	}
	return text, ""
}

// shortText is a text that leaves room for a cause: it may lack the name of the Job, or the time of its state.
type shortText struct {
	text         string
	named, timed bool
}

// shorterTexts leave more room for a cause. The name of the Job has the name of the CronJob, too.
func shorterTexts(r *explain.CronJobReport, now time.Time) []shortText {
	switch {
	case r.State == explain.CronJobOverlap && r.Oldest != nil:
		state := strings.ToLower(string(r.Oldest.State))
		return []shortText{
			{text: fmt.Sprintf("Job %s blocks CronJob %s (Forbid): it %s", r.Oldest.Name, r.Name, runText(r.Oldest, now)), named: true, timed: true},
			{text: fmt.Sprintf("Job %s is %s and blocks the CronJob (Forbid)", r.Oldest.Name, state), named: true, timed: r.Oldest.Since == nil},
			{text: fmt.Sprintf("Job %s blocks its CronJob (Forbid)", r.Oldest.Name), named: true},
			{text: "Its Job blocks the CronJob (Forbid)"},
		}
	case r.State == explain.CronJobPileUp && r.Stalled > 0:
		return []shortText{{text: fmt.Sprintf("%d of %s are stalled", r.Stalled, wording.Plural(r.Running, "Job", "Jobs"))}}
	case r.State == explain.CronJobScheduled && r.ByHand != nil:
		return []shortText{{text: "Job " + r.ByHand.Name + ", created by hand, " + runText(r.ByHand, now), named: true}}
	case r.State == explain.CronJobScheduled && r.Last != nil && r.Last.Name != "" && r.Last.Cause == "" && r.LateSeconds == 0:
		return []shortText{{text: "CronJob " + r.Name + " " + startsText(r)}, {text: "It " + startsText(r)}}
	case r.State == explain.CronJobScheduled && r.Last != nil && r.Last.Name != "":
		text := runText(r.Last, now)
		if r.Last.State == explain.OwnedSucceeded && r.Last.Cause != "" {
			return []shortText{{text: "Job " + r.Last.Name + " succeeded, but its log ends with an error", named: true}, {text: "The last Job succeeded, but its log has an error"}}
		}
		return []shortText{{text: "The last Job, " + r.Last.Name + ", " + text, named: true}, {text: "Job " + r.Last.Name + " " + text, named: true}, {text: "The last Job " + text}}
	}
	return nil
}

// keptText says why failed Jobs exist although a later run succeeded, "" if there are none.
func keptText(r *explain.CronJobReport) string {
	limit := ""
	if r.FailedJobsHistoryLimit != nil {
		limit = fmt.Sprintf(" (%d)", *r.FailedJobsHistoryLimit)
	}
	switch len(r.Kept) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("its failed Job %s is older, and stays due to failedJobsHistoryLimit%s", r.Kept[0], limit)
	}
	return fmt.Sprintf("its %d failed Jobs are older, and stay due to failedJobsHistoryLimit%s", len(r.Kept), limit)
}

// lateText says why the last start was possible long after its time, "" if it was not late.
func lateText(r *explain.CronJobReport) string {
	if r.LateSeconds == 0 {
		return ""
	}
	text := "no startingDeadlineSeconds limits how late a start may be"
	if d := r.StartingDeadlineSeconds; d != nil {
		text = fmt.Sprintf("startingDeadlineSeconds (%s) lets a start be so late", wording.Seconds(*d))
	}
	waited := ""
	if r.ConcurrencyPolicy == "Forbid" {
		waited = "a run before it (Forbid), "
	}
	return text + ": one that was missed is made up for, as after " + waited + "a suspension, a change of the schedule, or an outage of the controller"
}

// LateJobText says how late a CronJob started a Job, "" for a Job that was not late.
func LateJobText(late time.Duration, due, now time.Time) string {
	if late < input.LateStart {
		return ""
	}
	return fmt.Sprintf("its CronJob started it %s late: it was due at %s UTC", wording.Age(late), wording.Clock(due, now, time.UTC))
}

// endlessText says what lets a Job that runs go on without an end, "" if it has a deadline or is stalled.
func endlessText(r *explain.CronJobReport) string {
	if r.Oldest == nil || r.Oldest.State != explain.OwnedRunning || r.ActiveDeadlineSeconds != nil {
		return ""
	}
	text := "the Job has no activeDeadlineSeconds, so it may run forever"
	if c := r.DefaultCommand; c != nil {
		text += fmt.Sprintf("; its container %s has no command, so it runs the default one of image %s", c.Container, c.Image)
	}
	return text
}

// staleText says that a Job which has ended, or no longer exists, may keep the CronJob from starting the next one, "" for others.
func staleText(r *explain.CronJobReport) string {
	if r.State != explain.CronJobOverdue || r.ConcurrencyPolicy != "Forbid" || len(r.Active) == 0 {
		return ""
	}
	return fmt.Sprintf("its status.active names %s, which has ended or no longer exists: kube-controller-manager should have removed it", r.Active[0])
}

// unlistedText says that an unfinished Job does not keep the next one from starting although the policy is Forbid, "" for others.
func unlistedText(r *explain.CronJobReport) string {
	open := []explain.OwnedState{explain.OwnedRunning, explain.OwnedStalled, explain.OwnedFailing, explain.OwnedSuspended}
	run := r.Last
	if r.State == explain.CronJobPileUp {
		run = r.Oldest
	}
	if r.ConcurrencyPolicy != "Forbid" || run == nil || !slices.Contains(open, run.State) || slices.Contains(r.Active, run.Name) {
		return ""
	}
	return "Forbid does not wait for " + run.Name + ", which its status.active does not name"
}

// retriesLeftText says how far the Job is from its backoffLimit, "" for a Job without failures.
func retriesLeftText(run *explain.OwnedRun) string {
	if run == nil || run.Limit == nil || run.Limit.NoRetries || run.Limit.Used > run.Limit.Limit {
		return ""
	}
	what, limit := "retries", run.Limit.Limit
	if run.Limit.Unit == explain.LimitRestarts {
		what = "restarts"
	}
	return fmt.Sprintf("this Job has used %s %s that its backoffLimit allows", wording.Of(int(run.Limit.Used), int(limit)), what)
}

// failingSinceText is lastSuccessText for a CronJob whose last Job did not succeed, "" for others.
func failingSinceText(r *explain.CronJobReport, now time.Time) string {
	if !r.Last.Fails() || r.LastSuccess == nil {
		return ""
	}
	return lastSuccessText(r, now)
}

// uncountedText says why a success by hand is none of the CronJob, "" if there is none.
func uncountedText(r *explain.CronJobReport, now time.Time) string {
	run := r.Uncounted
	if run == nil || r.ByHand != nil {
		return ""
	}
	return fmt.Sprintf("Job %s, created by hand, %s, and is no success of the CronJob: its owner reference lacks controller: true", run.Name, runText(run, now))
}

// lastSuccessText says since when no run has succeeded.
func lastSuccessText(r *explain.CronJobReport, now time.Time) string {
	if r.LastSuccess == nil {
		return "no run has succeeded yet"
	}
	return "the last success was at " + moment(r.LastSuccess, now)
}
