package text

import (
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// nightly returns the report on a CronJob in Berlin, with runs of each kind.
func nightly() explain.CronJobReport {
	day := 24 * 3600
	run := func(name string, state explain.OwnedState, from, to int, cause string) explain.OwnedRun {
		r := explain.OwnedRun{Name: name, State: state, Started: at(from), Cause: cause}
		if to > from {
			r.Finished = at(to)
		}
		return r
	}
	r := explain.CronJobReport{
		Namespace: "ml", Name: "nightly-report", ObservedAt: *at(0), State: explain.CronJobScheduled, Jobs: 4,
		Schedule: "30 2 * * *", ScheduleText: "every day at 02:30", TimeZone: "Europe/Berlin", ConcurrencyPolicy: "Forbid", StartingDeadlineSeconds: ptr.To[int64](600),
		SuccessfulJobsHistoryLimit: ptr.To[int32](3), FailedJobsHistoryLimit: ptr.To[int32](1),
		LastSchedule: at(-9 * 3600), LastSuccess: at(-2*day - 9*3600 + 754), Next: at(13*3600 + 1800),
		Skipped: []explain.SkippedStarts{{Reason: explain.CronJobOverlap, Starts: 2, Last: at(-day)}, {Reason: explain.CronJobMissedStart, Starts: 1, Last: at(-3 * day)}},
		Runs: []explain.OwnedRun{
			run("nightly-report-29537370", explain.OwnedRunning, -9*3600, 0, ""),
			run("nightly-report-29535930", explain.OwnedFailed, -day-9*3600, -day-8*3600, "OOMKilled ×3, exit 1"),
			run("nightly-report-29534490", explain.OwnedSucceeded, -2*day-9*3600, -2*day-9*3600+754, ""),
			run("nightly-report-now", explain.OwnedStalled, -3*day, 0, "image registry.example/report:v2 was not found"),
			run("nightly-report-29531610", explain.OwnedFailed, -4*day, -4*day+60, ""),
			{Name: "nightly-report-29530170", State: explain.OwnedUnknown, Started: at(-5 * day), Removed: true},
			{Name: "nightly-report-29528730", State: explain.OwnedSuspended, Started: at(-6 * day)},
		},
	}
	r.Runs[3].Manual, r.Runs[4].Removed = true, true
	return r
}

// cronJobs returns CronJobs whose pages are recorded.
// Requirements: CRJ-08, CRJ-10, CRJ-11, CRJ-12.
func cronJobs() map[string]explain.CronJobReport {
	suspended := nightly()
	suspended.State, suspended.Next, suspended.SuspendedBy, suspended.SuspendedAt = explain.CronJobSuspended, nil, "kubectl-patch", at(-3600)
	suspended.TTLSecondsAfterFinished = ptr.To[int32](3600)
	suspended.Advice = []explain.Advice{{Text: "resume it", Command: "kubectl patch cronjob nightly-report -n ml"}}
	return map[string]explain.CronJobReport{"nightly": nightly(), "suspended": suspended}
}

// The next start is in the time zone of the CronJob, and in that of the reader if that differs, with what is assumed, and
// with the next change of the clocks.
// Requirements: CRJ-09.
func TestNextStartInBothTimeZones(t *testing.T) {
	auckland := time.FixedZone("NZDT", 13*3600)
	change := func(at string, removed, added int32) *explain.ClockChange {
		moment, _ := time.Parse(time.RFC3339, at)
		return &explain.ClockChange{At: metav1.NewTime(moment), Clock: "02:30", Removed: removed, Added: added}
	}
	for name, tc := range map[string]struct {
		change   func(*explain.CronJobReport)
		location *time.Location
		want     string
	}{
		"UTC":             {want: "Next start  Mon 2026-03-02 02:30 Europe/Berlin, 01:30 UTC here (in 13h30m)\n"},
		"the same zone":   {location: time.FixedZone("CET", 3600), want: "Next start  Mon 2026-03-02 02:30 Europe/Berlin (in 13h30m)\n"},
		"another day":     {location: time.FixedZone("HST", -10*3600), want: "Europe/Berlin, Sun 2026-03-01 15:30 HST here (in"},
		"the day is same": {location: auckland, want: "Europe/Berlin, 14:30 NZDT here (in"},
		"no zone": {func(r *explain.CronJobReport) { r.TimeZone, r.ZoneAssumed = "", true }, auckland,
			"Mon 2026-03-02 01:30 UTC, 14:30 NZDT here (in 13h30m), if kube-controller-manager runs in UTC: no timeZone is set\n"},
		"a gap":       {func(r *explain.CronJobReport) { r.ClockChange = change("2026-03-29T01:00:00Z", 1, 0) }, nil, "Clocks      02:30 does not exist on 2026-03-29, so 1 start does not happen\n"},
		"a repeat":    {func(r *explain.CronJobReport) { r.ClockChange = change("2026-10-25T01:00:00Z", 0, 1) }, nil, "Clocks      02:30 comes twice on 2026-10-25, so the CronJob starts 1 more Job\n"},
		"an interval": {func(r *explain.CronJobReport) { r.Schedule, r.ScheduleText, r.TimeZone = "@every 5m", "every 5m", "" }, nil, "Schedule    every 5m (@every 5m)\n"},
		"no words":    {func(r *explain.CronJobReport) { r.Schedule, r.ScheduleText = "TZ=x 1 1 1 1 1", "" }, nil, "Schedule    TZ=x 1 1 1 1 1\n"},
	} {
		r := nightly()
		if tc.change != nil {
			tc.change(&r)
		}
		got := render(t, func(w io.Writer) error { return CronJob(w, &r, Options{Width: 160, Location: tc.location}) })
		assert.Contains(t, got, tc.want, name)
	}
}

// A last Job with a problem is in the sentence, which leaves the next start to its field.
// Requirements: CRJ-10.
func TestLastJobWithAProblemIsInTheSentence(t *testing.T) {
	r := nightly()
	r.Runs[0].State, r.Runs[0].Cause = explain.OwnedFailed, "exit 1"
	r.Last = &r.Runs[0]
	got := render(t, func(w io.Writer) error { return CronJob(w, &r, Options{Width: 160}) })
	assert.Contains(t, got, "CronJob nightly-report last started nightly-report-29537370, which failed: exit 1; the last success was at ")
}

// The states of CronJobs and JobSets come first, in text that is safe for a terminal. Notes follow
// the sentence.
// Requirements: CRJ-02, CRJ-03, JST-01.
func TestOwnersComeFirst(t *testing.T) {
	list := explain.ReportList{CronJobs: []explain.CronJobReport{
		{Name: "fine", State: explain.CronJobScheduled, Sentence: "CronJob fine started its last Job.", Notes: []string{"It is\x07 well.", "The next start is soon."}, Jobs: 1},
		{
			Name: "a", State: explain.CronJobCreationRefused, Sentence: "CronJob a\x1b[2J cannot create its Jobs.", Details: []string{"Error creating job: no\x07"},
			Advice: []explain.Advice{{Text: "check the quota", Command: "kubectl describe resourcequota"}, {Text: "wait"}},
			Gaps:   []input.Gap{{Text: "events could not be read", Command: "kubectl auth can-i list events"}},
		},
		{Name: "b", State: explain.CronJobScheduled, Sentence: "CronJob b has not started a Job yet."},
	}, JobSets: []explain.JobSetReport{{Name: "set", Sentence: "JobSet set cannot create its Jobs.", Details: []string{"no quota"}}}}
	var out strings.Builder
	assert.NoError(t, Explanations(&out, list, Options{Width: 80, ASCII: true}))
	const want = `CronJob fine started its last Job.
It is\x07 well.
The next start is soon.

CronJob a\x1b[2J cannot create its Jobs.
  | Error creating job: no\x07

What to do
  1. Check the quota
      $ kubectl describe resourcequota
  2. Wait

What could not be read
  ! Events could not be read
      $ kubectl auth can-i list events

CronJob b has not started a Job yet.

JobSet set cannot create its Jobs.
  | no quota
`
	assert.Equal(t, out.String(), want)
}

// Requirements: CRJ-02
func TestAdviceOnAnOwnerAndItsJobsIsOneList(t *testing.T) {
	fix, logs := explain.Advice{Text: "fix the command"}, explain.Advice{Kind: explain.AdviceLogs, Text: "read the whole log", Command: "kubectl logs a-1-x"}
	list := explain.ReportList{
		CronJobs: []explain.CronJobReport{{Name: "a", Sentence: "CronJob a starts no Job.", Advice: []explain.Advice{fix, {Text: "delete it"}}}},
		Items:    []explain.Report{{Job: explain.Job{Name: "a-1"}, Advice: []explain.Advice{fix, logs, {Text: "correct the template", OfOwner: true}}}},
	}
	var out strings.Builder
	assert.NoError(t, Explanations(&out, list, Options{Width: 80, ASCII: true, Full: true}))
	assert.Equal(t, strings.Count(out.String(), "What to do"), 1)
	assert.Contains(t, out.String(), "What to do\n  1. Fix the command\n  2. Delete it\n  3. Read the whole log\n      $ kubectl logs a-1-x\n\n1 Job")
}
