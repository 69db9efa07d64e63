package cronjob

import (
	"cmp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// createdJob matches the message of the event SuccessfulCreate.
var createdJob = lazyregexp.New(`^Created job (\S+)$`)

// history returns the runs that Jobs and events still show, the newest first.
func history(in *input.CronJob, runs []explain.OwnedRun) (all []explain.OwnedRun) {
	for i := range in.Jobs {
		job := &in.Jobs[i]
		run := explain.OwnedRun{Name: job.Name, State: explain.OwnedUnknown}
		if known := runOf(runs, job.Name); known != nil {
			run = *known
		}
		run.Manual = job.Manual
		if run.Started.IsZero() {
			run.Started = explain.TimeOf(job.Created)
		}
		all = append(all, run)
	}
	all = append(all, removedRuns(in)...)
	slices.SortStableFunc(all, func(a, b explain.OwnedRun) int {
		return cmp.Or(startOf(&b).Compare(startOf(&a)), cmp.Compare(b.Name, a.Name)) // A name ends in the minute of the start.
	})
	return all
}

// startOf returns when a run started, or when it finished if that is all that is known.
func startOf(run *explain.OwnedRun) time.Time { return timeOf(cmp.Or(run.Started, run.Finished)) }

// removedRuns returns the runs that only events show.
func removedRuns(in *input.CronJob) (removed []explain.OwnedRun) {
	seen := func(name string) *explain.OwnedRun {
		if name == "" || slices.ContainsFunc(in.Jobs, func(job input.OwnedJob) bool { return job.Name == name }) {
			return nil
		}
		if run := runOf(removed, name); run != nil {
			return run
		}
		removed = append(removed, explain.OwnedRun{Name: name, State: explain.OwnedUnknown, Removed: true})
		return &removed[len(removed)-1]
	}
	for i := range in.Events {
		e := &in.Events[i]
		switch e.Reason {
		case "SuccessfulCreate":
			if run := seen(createdJob.Group(e.Message)); run != nil {
				run.Started = explain.TimeOf(e.Began())
			}
		case "SawCompletedJob":
			job, condition := completion(e.Message)
			if run := seen(job); run != nil {
				run.Finished, run.State = explain.TimeOf(e.Began()), explain.OwnedSucceeded
				if condition == batchv1.JobFailed {
					run.State = explain.OwnedFailed
				}
			}
		}
	}
	return removed
}

// skipped returns the starts that did not happen: those that events report, and those since the last start that a running Job
// prevents.
func skipped(r *explain.CronJobReport, in *input.CronJob, plan plan) (all []explain.SkippedStarts) {
	overlap := explain.SkippedStarts{Reason: explain.CronJobOverlap}
	missed := explain.SkippedStarts{Reason: explain.CronJobMissedStart}
	for i := range in.Events {
		e := &in.Events[i]
		switch stateOf(e) {
		case explain.CronJobOverlap: // The controller repeats the event until the next start is due.
			first := e.Began().Add(-slack)
			overlap.Starts += max(1, min(e.Count, plan.startsBetween(plan.firstAfter(first), e.Last)))
			overlap.Last = later(overlap.Last, e.Last)
		case explain.CronJobMissedStart:
			missed.Starts++
			missed.Last = later(missed.Last, missedStart(e.Message))
		}
	}
	if due := plan.firstAfter(countedFrom(in.CronJob)); r.State == explain.CronJobOverlap && !due.IsZero() && !plan.zoneAssumed {
		overlap.Starts = max(overlap.Starts, plan.startsBetween(due, in.Now))
	}
	if r.State == explain.CronJobMissedStart {
		missed.Starts, missed.Last = max(missed.Starts, r.MissedStarts), later(missed.Last, timeOf(r.Missed))
	}
	for _, s := range []explain.SkippedStarts{overlap, missed} {
		if s.Starts > 0 {
			all = append(all, s)
		}
	}
	return all
}

func later(a *metav1.Time, b time.Time) *metav1.Time { return explain.TimeOf(laterOf(timeOf(a), b)) }

// cronJobStates maps reasons of events that the CronJob controller writes when it does not start a Job, as of Kubernetes
// 1.36. FailedNeedsStart is from before 1.21.
var cronJobStates = map[string]explain.CronJobState{
	"FailedCreate":        explain.CronJobCreationRefused,
	"JobAlreadyActive":    explain.CronJobOverlap,
	"MissSchedule":        explain.CronJobMissedStart,
	"TooManyMissedTimes":  explain.CronJobManyMissed,
	"FailedNeedsStart":    explain.CronJobManyMissed,
	"UnknownTimeZone":     explain.CronJobUnknownZone,
	"UnparseableSchedule": explain.CronJobBadSchedule,
	"InvalidSchedule":     explain.CronJobBadSchedule,
	"FailedGet":           explain.CronJobCannotReplace,
	"FailedDelete":        explain.CronJobCannotReplace,
}

// stateOf returns the obstacle to a CronJob's next start that an event reports, "" if it reports none.
func stateOf(e *input.Event) explain.CronJobState { return cronJobStates[e.Reason] }

// missedStart reads the time from the message of an event MissSchedule; zero if there is none.
func missedStart(message string) time.Time {
	text, found := strings.CutPrefix(message, "Missed scheduled time to start a job: ")
	if !found {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC1123Z, time.RFC1123} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// rejected matches the beginning of the CronJob controller's messages about a time zone or a schedule that it does not
// accept.
var rejected = lazyregexp.New(`^(?:invalid timeZone|unparseable schedule|invalid schedule): "?([^":]*)"?\s*:`)

// rejectedIn reads the time zone or the schedule from the message of an event UnknownTimeZone, UnparseableSchedule or
// InvalidSchedule; "" if there is none.
func rejectedIn(message string) string {
	return strings.TrimSpace(rejected.Group(message))
}
