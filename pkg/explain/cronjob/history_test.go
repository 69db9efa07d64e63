package cronjob_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// at returns a CronJob with a schedule in a time zone, at a moment.
func at(now, schedule, zone string) input.CronJob {
	in := given(func(cj *batchv1.CronJob) {
		cj.Spec.Schedule, cj.Spec.TimeZone, cj.Status.LastScheduleTime = schedule, &zone, nil
		if zone == "" {
			cj.Spec.TimeZone = nil
		}
	})
	in.Now, _ = time.Parse(time.RFC3339, now)
	in.CronJob.CreationTimestamp = metav1.NewTime(in.Now.Add(-time.Minute))
	return in
}

// The next start is the one that kube-controller-manager computes from the same fields: in the time zone of the CronJob, also
// when the clocks change.
// Requirements: CRJ-09.
func TestNextStartIsTheControllers(t *testing.T) {
	for _, tc := range []struct{ now, schedule, zone, next, change string }{
		{"2026-03-01T12:00:00Z", "0 3 * * *", "Etc/UTC", "2026-03-02T03:00:00Z", ""},
		{"2026-03-01T12:00:00Z", "0 3 * * *", "", "2026-03-02T03:00:00Z", ""},
		{"2026-03-01T12:00:00Z", "0 3 * * *", "Europe/Berlin", "2026-03-02T02:00:00Z", ""},
		{"2026-07-01T12:00:00Z", "0 3 * * *", "Europe/Berlin", "2026-07-02T01:00:00Z", ""},
		{"2026-03-01T12:00:00Z", "0 0 * * MON", "Pacific/Auckland", "2026-03-01T11:00:00Z + 7d", ""},
		{"2026-03-01T12:00:00Z", "30 4 * * *", "Asia/Kolkata", "2026-03-01T23:00:00Z", ""},
		// 02:30 does not exist on 29 March, and exists twice on 25 October.
		{"2026-03-28T12:00:00Z", "30 2 * * *", "Europe/Berlin", "2026-03-30T00:30:00Z", "02:30 -1"},
		{"2026-03-28T12:00:00Z", "*/30 1-3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "02:00 -2"},
		{"2026-03-28T12:00:00Z", "30 * * * *", "Europe/Berlin", "2026-03-28T12:30:00Z", ""},
		{"2026-03-28T12:00:00Z", "0 3 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z", ""},
		{"2026-02-01T12:00:00Z", "30 2 * * *", "Europe/Berlin", "2026-02-02T01:30:00Z", ""},
		{"2026-10-24T12:00:00Z", "30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "02:30 +1"},
		{"2026-10-25T00:30:00Z", "30 2 * * *", "Europe/Berlin", "2026-10-25T01:30:00Z", "02:30 +1"},
		{"2026-10-25T01:30:00Z", "30 2 * * *", "Europe/Berlin", "2026-10-26T01:30:00Z", ""},
		{"2026-10-24T12:00:00Z", "*/15 * * * *", "Europe/Berlin", "2026-10-24T12:15:00Z", ""},
		{"2026-03-07T12:00:00Z", "30 2 * * *", "America/New_York", "2026-03-09T06:30:00Z", "02:30 -1"},
		{"2026-04-04T00:00:00Z", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T14:45:00Z", "01:45 +1"},
	} {
		in := at(tc.now, tc.schedule, tc.zone)
		r := cronjob.Explain(in, nil)
		want := tc.next
		if day, later := strings.CutSuffix(tc.next, " + 7d"); later {
			moment, _ := time.Parse(time.RFC3339, day)
			want = moment.AddDate(0, 0, 7).Format(time.RFC3339)
		}
		controllers, err := cron.ParseStandard("TZ=" + zoneOr(tc.zone, "UTC") + " " + tc.schedule)
		assert.NoError(t, err)
		if next := controllers.Next(in.Now).UTC().Format(time.RFC3339); r.Next == nil || r.Next.Format(time.RFC3339) != next || next != want {
			t.Errorf("%+v: %v, and the controller's is %s", tc, r.Next, next)
		}
		change := ""
		if c := r.ClockChange; c != nil {
			change = fmt.Sprintf("%s %+d", c.Clock, c.Added-c.Removed)
		}
		assert.Equal(t, change, tc.change, tc)
	}
}

func zoneOr(zone, other string) string {
	if zone == "" {
		return other
	}
	return zone
}

// @every counts from the last start, or from the creation; with a startingDeadlineSeconds, only the controller knows from when.
// Requirements: CRJ-09.
func TestNextStartAtAnInterval(t *testing.T) {
	in := given(func(cj *batchv1.CronJob) {
		cj.Spec.Schedule, cj.Spec.TimeZone, cj.Status.LastScheduleTime = "@every 1h30m", nil, ago(2*time.Hour)
	})
	r := cronjob.Explain(in, nil)
	if r.ScheduleText != "every 1h30m" || r.Next == nil || !r.Next.Equal(ago(-time.Hour)) || r.ZoneAssumed {
		t.Errorf("%q, %v", r.ScheduleText, r.Next)
	}
	in.CronJob.Status.LastScheduleTime, in.CronJob.CreationTimestamp = nil, *ago(time.Hour)
	if r := cronjob.Explain(in, nil); !r.Next.Equal(ago(-30 * time.Minute)) {
		t.Errorf("from the creation: %v", r.Next)
	}
	in.CronJob.Spec.StartingDeadlineSeconds = ptr.To[int64](60)
	if r := cronjob.Explain(in, nil); r.Next != nil {
		t.Errorf("with a deadline: %v", r.Next)
	}
	if r := cronjob.Explain(at("2026-03-01T12:00:00Z", "0 0 30 2 *", "Etc/UTC"), nil); r.Next != nil {
		t.Errorf("on 30 February: %v", r.Next)
	}
}

// The history has the runs of Jobs that exist, and of removed Jobs that events still show, the newest first.
// Requirements: CRJ-10.
func TestHistoryHasWhatJobsAndEventsShow(t *testing.T) {
	in := given(nil)
	in.Jobs = []input.OwnedJob{
		{Name: "backup-3", Created: noon.Add(-2 * time.Hour)}, {Name: "backup-5", Created: noon.Add(-5 * time.Minute)}, {Name: "now", Created: noon.Add(-time.Hour), Manual: true},
	}
	in.Events = []input.Event{
		event("SuccessfulCreate", "Created job backup-1", 4*time.Hour), event("SawCompletedJob", "Saw completed job: backup-1, condition: Complete", 4*time.Hour-time.Minute),
		event("SuccessfulCreate", "Created job backup-2", 3*time.Hour), event("SawCompletedJob", "Saw completed job: backup-2, condition: Failed", 3*time.Hour-2*time.Minute),
		event("SawCompletedJob", "Saw completed job: backup-0, status: Complete", 5*time.Hour), event("SuccessfulCreate", "Created job backup-3", 2*time.Hour),
		event("SuccessfulCreate", "Created job gone", 6*time.Hour), event("SawCompletedJob", "", time.Hour),
	}
	runs := []explain.OwnedRun{
		{Name: "backup-3", State: explain.OwnedFailed, Cause: "exit 1", Started: ago(2*time.Hour - time.Second), Finished: ago(30 * time.Minute)},
		{Name: "backup-5", State: explain.OwnedRunning, Started: ago(5 * time.Minute)},
	}
	r := cronjob.Explain(in, runs)
	var got []string
	for i := range r.Runs {
		run := &r.Runs[i]
		got = append(got, fmt.Sprintf("%s %s %s %s removed=%t manual=%t", run.Name, run.State, run.Duration(noon), run.Cause, run.Removed, run.Manual))
	}
	want := []string{
		"backup-5 Running 5m0s  removed=false manual=false",
		"now Unknown 1h0m0s  removed=false manual=true",
		"backup-3 Failed 1h29m59s exit 1 removed=false manual=false",
		"backup-2 Failed 2m0s  removed=true manual=false",
		"backup-1 Succeeded 1m0s  removed=true manual=false",
		"backup-0 Succeeded -1ns  removed=true manual=false",
		"gone Unknown -1ns  removed=true manual=false",
	}
	assert.Equal(t, strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// A Job that was created by hand is no start of the schedule.
// Requirements: CRJ-03.
func TestManualJobIsNoStartOfTheSchedule(t *testing.T) {
	in := given(func(cj *batchv1.CronJob) { cj.Spec.Suspend, cj.Status.LastScheduleTime = ptr.To(true), nil })
	in.Jobs = []input.OwnedJob{{Name: "now", Created: noon.Add(-time.Hour), Manual: true}}
	r := cronjob.Explain(in, nil)
	want := "CronJob backup is suspended (spec.suspend), so it starts no Jobs; its schedule has started no Job yet."
	if got, _ := words.CronJobText(&r, noon); got != want {
		t.Errorf("%q", got)
	}
}

// Starts that a running Job or a deadline prevented are counted by the schedule, as the controller repeats its events.
// Requirements: CRJ-11.
func TestSkippedStartsAreCounted(t *testing.T) {
	forbidden := func(first, last time.Duration, count int32) input.Event {
		return input.Event{Reason: "JobAlreadyActive", Count: count, First: noon.Add(-first), Last: noon.Add(-last)}
	}
	hourly := func(cj *batchv1.CronJob) {
		cj.Spec.Schedule, cj.Spec.ConcurrencyPolicy, cj.Status.LastScheduleTime = "0 * * * *", batchv1.ForbidConcurrent, ago(0)
	}
	for name, tc := range map[string]struct {
		change func(*batchv1.CronJob)
		events []input.Event
		want   string
	}{
		"none":                {change: hourly},
		"a repeated event":    {change: hourly, events: []input.Event{forbidden(3*time.Hour, 61*time.Minute, 40)}, want: "OverlapForbidden 2 10:59:00"},
		"an event for each":   {change: hourly, events: []input.Event{forbidden(3*time.Hour, 3*time.Hour, 1), forbidden(2*time.Hour, 2*time.Hour, 1)}, want: "OverlapForbidden 2 10:00:00"},
		"an unknown schedule": {change: func(cj *batchv1.CronJob) { cj.Spec.Schedule = "TZ=x 1 1 1 1 1" }, events: []input.Event{forbidden(time.Hour, time.Minute, 9)}, want: "OverlapForbidden 1 11:59:00"},
		"a Job runs, no event": {change: func(cj *batchv1.CronJob) {
			hourly(cj)
			cj.Status.Active, cj.Status.LastScheduleTime = []corev1.ObjectReference{{Name: "backup-1"}}, ago(150*time.Minute)
		}, want: "OverlapForbidden 3 -"},
		"a deadline": {events: []input.Event{event("MissSchedule", late, 8*time.Hour), event("MissSchedule", strings.Replace(late, "01 Mar", "02 Mar", 1), time.Hour)}, change: func(cj *batchv1.CronJob) { cj.Status.LastScheduleTime = ago(33 * time.Hour) }, want: "MissedStart 2 03:00:00"},
	} {
		in := given(tc.change)
		in.Events = tc.events
		var got []string
		r := cronjob.Explain(in, nil)
		for _, s := range r.Skipped {
			last := "-"
			if s.Last != nil {
				last = s.Last.Format(time.TimeOnly)
			}
			got = append(got, fmt.Sprintf("%s %d %s", s.Reason, s.Starts, last))
		}
		assert.Equalf(t, strings.Join(got, "; "), tc.want, "%s, %s", name, r.State)
	}
}

// A suspended CronJob names the field manager that last set spec.suspend.
// Requirements: CRJ-12.
func TestSuspensionNamesItsManager(t *testing.T) {
	in := given(func(cj *batchv1.CronJob) {
		cj.Spec.Suspend = ptr.To(true)
		for manager, fields := range map[string]string{"kubectl-patch": `{"f:spec":{"f:suspend":{}}}`, "helm": `{"f:spec":{"f:schedule":{}}}`} {
			cj.ManagedFields = append(cj.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, Time: ago(time.Hour), FieldsV1: metav1.NewFieldsV1(fields)})
		}
	})
	if r := cronjob.Explain(in, nil); r.SuspendedBy != "kubectl-patch" || !r.SuspendedAt.Equal(ago(time.Hour)) || r.Next != nil {
		t.Errorf("%q %v %v", r.SuspendedBy, r.SuspendedAt, r.Next)
	}
}
