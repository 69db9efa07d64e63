package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// firstSentence returns the first clause with as many of the next ones as fit, and the others as notes, all with full stops.
func firstSentence(clauses []string) (sentence string, notes []string) {
	sentence = wording.Cut(clauses[0], maxSentence-1)
	for _, clause := range clauses[1:] {
		switch longer := Clauses([]string{sentence, clause}); {
		case clause == "":
		case len(notes) == 0 && utf8.RuneCountInString(longer) < maxSentence:
			sentence = longer
		default:
			notes = append(notes, FullStop(wording.Sentence(clause)))
		}
	}
	return FullStop(sentence), notes
}

// CronJobText describes the state of a CronJob: the answer, and what adds to it.
func CronJobText(r *explain.CronJobReport, now time.Time) (sentence string, notes []string) {
	what, why := cronJobWhat(r, now)
	texts, shorter := []string{"CronJob " + r.Name + " " + what}, shorterTexts(r, now)
	for i := range shorter {
		texts = append(texts, shorter[i].text)
	}
	clauses, used := withCause(why, texts...)
	if used > 0 {
		clauses = append(clauses, unnamedText(r, &shorter[used-1], now))
	}
	if r.State == explain.CronJobCreationRefused {
		clauses = refusedClauses("CronJob "+r.Name+" cannot create its Jobs: ", r.Refusal)
	}
	manual := map[bool]string{true: wording.Plural(r.Manual, "Job that was created by hand is running", "Jobs that were created by hand are running")}[r.Manual > 0 && r.ByHand == nil]
	switch r.State {
	case explain.CronJobScheduled:
		clauses = append(clauses, waitsText(r.Last), keptText(r), lateText(r), retriesLeftText(r.Last), cleanedUpText(r), failingSinceText(r, now), nextStartText(r, now), unlistedText(r), uncountedText(r, now), manual, unexpectedText(r))
	case explain.CronJobPileUp:
		clauses = append(clauses, pileUpNotes(r, now)...)
	case explain.CronJobReplaces:
		clauses = append(clauses, lastSuccessText(r, now), nextStartText(r, now))
	case explain.CronJobManualJobs:
		clauses = append(clauses, "it neither ends them nor waits for them", nextStartText(r, now), unexpectedText(r))
	case explain.CronJobSuspended, explain.CronJobUnknownZone, explain.CronJobBadSchedule:
		clauses = append(clauses, changedText(r), lastStartText(r, now))
		if r.ByHand != nil {
			clauses = append(clauses, wording.Join(": ", "Job "+r.ByHand.Name+", created by hand, "+runText(r.ByHand, now), r.ByHand.Cause))
		}
	case explain.CronJobMissedStart:
		clauses = append(clauses, nextStartText(r, now))
	case explain.CronJobGone, explain.CronJobUnread, explain.CronJobDeleting:
	case explain.CronJobOverlap:
		clauses = append(clauses, waitsText(r.Oldest), outdatedText(r.Oldest), retriesLeftText(r.Oldest), endlessText(r), lastStartText(r, now))
	default:
		clauses = append(clauses, staleText(r), lastStartText(r, now))
	}
	return firstSentence(append(clauses, shortDeadlineText(r)))
}

// unnamedText says what the first clause has no room for: the state of the Job, or its name.
func unnamedText(r *explain.CronJobReport, first *shortText, now time.Time) string {
	switch {
	case r.State == explain.CronJobOverlap && !first.timed:
		return "its Job " + r.Named() + " " + runText(r.Oldest, now)
	case r.State == explain.CronJobScheduled && !first.named && r.Last.Cause == "":
		return "its last Job, " + r.Named() + ", " + runText(r.Last, now)
	case r.State == explain.CronJobScheduled && !first.named:
		return "this Job is " + r.Named()
	}
	return ""
}

// cronJobWhat returns the first clause, which follows the name, and the cause of what it says.
func cronJobWhat(r *explain.CronJobReport, now time.Time) (what, why string) {
	switch r.State {
	case explain.CronJobSuspended:
		return "is suspended (" + wording.Join(", set by ", "spec.suspend", r.SuspendedBy) + "), so it starts no Jobs", ""
	case explain.CronJobDeleting:
		return "was deleted" + ago(r.Since, now) + " and is not gone yet, so it starts no more Jobs", ""
	case explain.CronJobGone:
		return "no longer exists, so it starts no more Jobs", ""
	case explain.CronJobUnread:
		return "could not be read", ""
	case explain.CronJobOverlap:
		return overlapText(r, now)
	case explain.CronJobPileUp:
		return pileUpText(r, now)
	case explain.CronJobManualJobs:
		return fmt.Sprintf("has %s by hand; concurrencyPolicy %s covers only Jobs that it starts on its schedule",
			wording.Plural(r.Manual, "running Job that was created", "running Jobs that were created"), r.ConcurrencyPolicy), ""
	case explain.CronJobReplaces:
		return replacesText(r, now)
	case explain.CronJobCannotReplace:
		return "cannot replace the Job that is still running (concurrencyPolicy Replace)", detail(r)
	case explain.CronJobUnknownZone:
		return fmt.Sprintf("starts no Jobs: kube-controller-manager does not know the time zone %q", cmp.Or(r.Rejected, r.TimeZone)), ""
	case explain.CronJobBadSchedule:
		return fmt.Sprintf("starts no Jobs: kube-controller-manager does not accept the schedule %q", cmp.Or(r.Rejected, r.Schedule)), ""
	case explain.CronJobOverdue:
		return fmt.Sprintf("should have started a Job at %s, and no event shows why it has not", moment(r.Missed, now)), ""
	case explain.CronJobMissedStart, explain.CronJobManyMissed:
		return missedText(r, now), ""
	}
	return scheduledText(r, now)
}

func missedText(r *explain.CronJobReport, now time.Time) string {
	if r.State == explain.CronJobManyMissed {
		return "has missed more than 100 starts: kube-controller-manager has not run for long, or its clock differs from that of the API server"
	}
	if r.MissedStarts > 0 { // No event reports it.
		last := "has started no Job yet"
		if r.LastSchedule != nil {
			last = "has started no Job since " + moment(r.LastSchedule, now)
		}
		return fmt.Sprintf("%s and missed %s: no Job was created within startingDeadlineSeconds (%s)", last,
			wording.Plural(r.MissedStarts, "start", "starts"), wording.Seconds(*r.StartingDeadlineSeconds))
	}
	start := "a start"
	if r.Missed != nil {
		start = "its start at " + moment(r.Missed, now)
	}
	if r.StartingDeadlineSeconds == nil {
		return "missed " + start + ": no Job was created in time"
	}
	return fmt.Sprintf("missed %s: no Job was created within startingDeadlineSeconds (%s)", start, wording.Seconds(*r.StartingDeadlineSeconds))
}

// scheduledText describes a CronJob that nothing keeps from its next start.
func scheduledText(r *explain.CronJobReport, now time.Time) (what, why string) {
	switch {
	case r.NeverDue():
		return "never starts a Job: no day of the next years matches its schedule, " + wording.Cut(r.Schedule, maxSchedule), ""
	case r.ByHand != nil:
		return byHandText(r, now)
	case r.LastSchedule == nil && r.Jobs == 0:
		return "has not started a Job yet", ""
	case r.LastSchedule == nil:
		return "has not started a Job on its schedule yet", ""
	case r.Jobs == 0 && (r.Last == nil || r.Last.State == explain.OwnedUnknown):
		return fmt.Sprintf("has no Jobs now; the last start was at %s", moment(r.LastSchedule, now)), ""
	case r.Jobs == 0:
		return fmt.Sprintf("has no Jobs now; the last one, of %s, %s", wording.Clock(r.LastSchedule.Time, now, time.UTC)+" UTC", removedText(r.Last)), ""
	}
	return lastRunText(r, now)
}

// lastRunText describes a CronJob by its last run.
func lastRunText(r *explain.CronJobReport, now time.Time) (what, why string) {
	starts := startsText(r) + "; the last, "
	switch run := r.Last; {
	case r.EitherDay && run != nil && run.Cause == "":
		return startsText(r), ""
	case len(r.Kept) > 0 && r.LateSeconds == 0:
		return "last succeeded" + ago(r.LastSuccess, now), ""
	case run == nil: // The Jobs could not be read.
		return fmt.Sprintf("started its last Job at %s", moment(r.LastSchedule, now)), ""
	case run.Name == "":
		return fmt.Sprintf("%sof %s, no longer exists and %s", starts, moment(r.LastSchedule, now), removedText(run)), ""
	case run.Cause == "" && r.LateSeconds > 0:
		return fmt.Sprintf("started %s %s late (due %s UTC); it %s", run.Name, wording.Seconds(r.LateSeconds),
			wording.Clock(r.LastSchedule.Time, now, time.UTC), runText(run, now)), ""
	case run.Cause != "" && run.State == explain.OwnedSucceeded:
		return "last started " + run.Name + ", which " + runText(run, now) + ", but its log ends with an error", run.Cause
	case run.Cause != "":
		return "last started " + run.Name + ", which " + runText(run, now), run.Cause
	default:
		return starts + run.Name + ", " + runText(run, now), ""
	}
}

// maxSchedule is the maximum length of a schedule in a sentence.
const maxSchedule = 40

// removedText says how a Job ended that no longer exists.
func removedText(run *explain.OwnedRun) string {
	return cmp.Or(map[explain.OwnedState]string{explain.OwnedFailed: "failed", explain.OwnedSucceeded: "succeeded"}[run.State], "has no recorded success")
}

func overlapText(r *explain.CronJobReport, now time.Time) (what, why string) {
	run := r.Oldest
	if run == nil || len(r.Active) > 1 {
		running := "a Job is"
		if n := len(r.Active); n > 0 {
			running = wording.Enumerate(r.Active, "and") + wording.Form(n, " is", " are")
		}
		return "starts no Job while " + running + " still running (concurrencyPolicy Forbid)", ""
	}
	return "starts no Job (Forbid): its Job " + run.Name + " " + runText(run, now), run.Cause
}

// outdatedText says that a Job has another template than the CronJob, "" for others.
func outdatedText(run *explain.OwnedRun) string {
	if run == nil || !run.Outdated {
		return ""
	}
	return "the pod template of this Job differs from the current one of the CronJob"
}

func pileUpText(r *explain.CronJobReport, now time.Time) (what, why string) {
	text := "has " + wording.Count(r.Running, "Jobs")
	switch r.Stalled {
	case 0:
		return text + " running at once, the oldest for " + wording.Age(now.Sub(ptr.Deref(r.Oldest.Since, metav1.NewTime(now)).Time)), ""
	case r.Running:
		return text + " at once, all stalled", r.Oldest.Cause
	}
	return fmt.Sprintf("%s at once, %d of them stalled", text, r.Stalled), r.Oldest.Cause
}

// pileUpNotes says why the Jobs of a CronJob pile up.
func pileUpNotes(r *explain.CronJobReport, now time.Time) []string {
	more := unlistedText(r)
	if r.ConcurrencyPolicy != "Replace" && r.ConcurrencyPolicy != "Forbid" {
		more = "concurrencyPolicy Allow adds a Job at each start"
	}
	if run := r.Oldest; r.Stalled > 0 && run != nil {
		more = wording.Join(", and ", more, "history limits remove only finished Jobs")
		return []string{more, fmt.Sprintf("the oldest of them, %s, %s", run.Name, runText(run, now)), nextStartText(r, now)}
	}
	return []string{more, nextStartText(r, now)}
}

// unexpectedText says that a warning of the controller is no error.
func unexpectedText(r *explain.CronJobReport) string {
	if r.Unexpected == "" {
		return ""
	}
	return "its event UnexpectedJob is no error: it reports Job " + r.Unexpected + ", which the schedule did not start"
}

// shortDeadlineText warns of a startingDeadlineSeconds that the controller may miss.
func shortDeadlineText(r *explain.CronJobReport) string {
	if d := r.StartingDeadlineSeconds; d != nil && *d < TooShortToStart {
		return fmt.Sprintf("startingDeadlineSeconds (%s) is so short that starts may be missed", wording.Seconds(*d))
	}
	return ""
}

// cleanedUpText explains why the Job of the last start no longer exists, "" if the spec does not explain it.
func cleanedUpText(r *explain.CronJobReport) string {
	if r.LastSchedule == nil || r.Last != nil && r.Last.Name != "" || r.Last == nil && r.Jobs > 0 {
		return ""
	}
	succeeded := r.LastSuccess != nil && !r.LastSuccess.Before(r.LastSchedule)
	none := func(limit *int32) bool { return ptr.Deref(limit, 1) == 0 }
	switch {
	case none(r.SuccessfulJobsHistoryLimit) && succeeded:
		return "Jobs that succeeded are deleted at once (successfulJobsHistoryLimit 0)"
	case none(r.FailedJobsHistoryLimit) && r.Last != nil && r.Last.State == explain.OwnedFailed:
		return "Jobs that failed are deleted at once (failedJobsHistoryLimit 0)"
	case none(r.SuccessfulJobsHistoryLimit) && none(r.FailedJobsHistoryLimit):
		return "finished Jobs are deleted at once (successfulJobsHistoryLimit and failedJobsHistoryLimit are 0)"
	case none(r.FailedJobsHistoryLimit) && !succeeded:
		return "Jobs that failed are deleted at once (failedJobsHistoryLimit 0)"
	case r.TTLSecondsAfterFinished != nil:
		return fmt.Sprintf("its Jobs are deleted %s after they finish (ttlSecondsAfterFinished)", wording.Seconds(int64(*r.TTLSecondsAfterFinished)))
	}
	return ""
}

// changedText returns the current time zone or schedule if it is not the rejected one.
func changedText(r *explain.CronJobReport) string {
	switch {
	case r.Rejected == "":
	case r.State == explain.CronJobUnknownZone && r.Rejected != r.TimeZone:
		if r.TimeZone == "" {
			return "timeZone has been removed since"
		}
		return fmt.Sprintf("its timeZone is %s now", r.TimeZone)
	case r.State == explain.CronJobBadSchedule && r.Rejected != r.Schedule:
		return fmt.Sprintf("its schedule is %q now", r.Schedule)
	}
	return ""
}

func lastStartText(r *explain.CronJobReport, now time.Time) string {
	switch {
	case r.LastSchedule == nil && r.Jobs > 0:
		return "its schedule has started no Job yet"
	case r.LastSchedule == nil:
		return "no Job has started yet"
	}
	return "the last start was at " + moment(r.LastSchedule, now)
}

func nextStartText(r *explain.CronJobReport, now time.Time) string {
	if r.Next.IsZero() {
		return ""
	}
	text := "the next start is at " + moment(r.Next, now)
	if run := r.Oldest; r.State == explain.CronJobScheduled && run != nil && slices.Contains(r.Active, run.Name) {
		text += wording.Insert(overlaps[r.ConcurrencyPolicy], "{job}", run.Name)
	}
	return text
}

// overlaps are what the policies do at the next start with a Job that still runs.
var overlaps = map[string]string{
	"Forbid": ", unless {job} still runs then (concurrencyPolicy Forbid)", "Replace": ", and ends {job} if that still runs then (concurrencyPolicy Replace)",
}

// moment returns "03:00:00 UTC (2h ago)", with the date if it is another day.
func moment(t *metav1.Time, now time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	text := wording.Clock(t.Time, now, time.UTC) + " UTC"
	if t.After(now) {
		return text + " (in " + wording.Age(t.Sub(now)) + ")"
	}
	return text + " (" + wording.Age(now.Sub(t.Time)) + " ago)"
}

func detail(r *explain.CronJobReport) string {
	if len(r.Details) == 0 {
		return "no event says why"
	}
	return wording.Shorten(r.Details[0], maxUnquoted)
}

// cronJobStatuses are the states of CronJobs in words.
var cronJobStatuses = map[explain.CronJobState]string{
	explain.CronJobScheduled: "Scheduled", explain.CronJobSuspended: "Suspended", explain.CronJobDeleting: "Terminating",
	explain.CronJobGone: "Gone", explain.CronJobUnread: "Unknown", explain.CronJobCreationRefused: "Refused",
	explain.CronJobOverlap: "Waiting for a Job", explain.CronJobCannotReplace: "Cannot replace a Job",
	explain.CronJobMissedStart: "Start missed", explain.CronJobManyMissed: "Starts missed",
	explain.CronJobUnknownZone: "Unknown time zone", explain.CronJobBadSchedule: "Invalid schedule", explain.CronJobOverdue: "Overdue",
	explain.CronJobPileUp: "Jobs pile up", explain.CronJobReplaces: "Replaces unfinished Jobs", explain.CronJobManualJobs: "Jobs by hand",
}

// CronJobStatus returns a state in words.
func CronJobStatus(state explain.CronJobState) string {
	return cmp.Or(cronJobStatuses[state], string(state))
}

// SkippedText says how many starts did not happen, and why, without the time of the last one.
func SkippedText(s *explain.SkippedStarts, r *explain.CronJobReport) string {
	text := wording.Plural(s.Starts, "start", "starts")
	switch {
	case s.Reason == explain.CronJobOverlap:
		return text + " while a Job ran (Forbid)"
	case r.StartingDeadlineSeconds != nil:
		return text + fmt.Sprintf(" later than startingDeadlineSeconds (%s)", wording.Seconds(*r.StartingDeadlineSeconds))
	}
	return text + " too late"
}

// ClockChangeText says what a change of the clocks does to starts.
func ClockChangeText(c *explain.ClockChange, zone *time.Location) string {
	day := c.At.In(zone).Format(time.DateOnly)
	if c.Removed > 0 {
		return fmt.Sprintf("%s does not exist on %s, so %s", c.Clock, day, wording.Plural(c.Removed, "start does not happen", "starts do not happen"))
	}
	return fmt.Sprintf("%s comes twice on %s, so the CronJob starts %s", c.Clock, day, wording.Plural(c.Added, "more Job", "more Jobs"))
}

// RunState returns the state of a run in words, for a count or a column.
func RunState(state explain.OwnedState) string {
	if state == explain.OwnedUnknown {
		return "of unknown outcome"
	}
	return strings.ToLower(string(state))
}

// KeptJobsText says which finished Jobs a CronJob keeps, "" if that is unknown.
func KeptJobsText(r *explain.CronJobReport) string {
	if r.SuccessfulJobsHistoryLimit == nil || r.FailedJobsHistoryLimit == nil {
		return ""
	}
	text := fmt.Sprintf("%d succeeded and %d failed Jobs (history limits)", *r.SuccessfulJobsHistoryLimit, *r.FailedJobsHistoryLimit)
	if ttl := r.TTLSecondsAfterFinished; ttl != nil {
		text += ", for " + wording.Seconds(int64(*ttl)) + " (ttlSecondsAfterFinished)"
	}
	return text
}

// OverlapText says what a CronJob does with a start while a Job runs.
func OverlapText(policy string) string {
	return map[string]string{
		"": "Jobs may run at once (concurrencyPolicy Allow)", "Allow": "Jobs may run at once (concurrencyPolicy Allow)",
		"Forbid": "no start while a Job runs (concurrencyPolicy Forbid)", "Replace": "a start ends the Job that runs (concurrencyPolicy Replace)",
	}[policy]
}
