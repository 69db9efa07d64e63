package cronjob_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *metav1.Time { return ptr.To(metav1.NewTime(noon.Add(-d))) }

// input returns a CronJob that was created ten days ago, and starts Jobs at 03:00 UTC.
func given(change func(*batchv1.CronJob)) input.CronJob {
	cj := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "backup", UID: "u", CreationTimestamp: *ago(10 * 24 * time.Hour)},
		Spec:       batchv1.CronJobSpec{Schedule: "0 3 * * *", TimeZone: ptr.To("Etc/UTC"), ConcurrencyPolicy: batchv1.AllowConcurrent},
		Status:     batchv1.CronJobStatus{LastScheduleTime: ago(9 * time.Hour)},
	}
	if change != nil {
		change(cj)
	}
	return input.CronJob{Now: noon, Namespace: "ns", Name: "backup", CronJob: cj}
}

// textOf returns the sentence and the notes.
func textOf(r *explain.CronJobReport) string {
	return strings.Join(append([]string{r.Sentence}, r.Notes...), " ")
}

func event(reason, message string, d time.Duration) input.Event {
	return input.Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message, Count: 1, First: noon.Add(-d), Last: noon.Add(-d)}
}

const (
	quota = `Error creating job: jobs.batch "backup-1" is forbidden: exceeded quota: job-quota, requested: count/jobs.batch=1, used: count/jobs.batch=1, limited: count/jobs.batch=1`
	late  = "Missed scheduled time to start a job: Sun, 01 Mar 2026 03:00:00 +0000"
	zone  = `invalid timeZone: "Europe/Kyiv": unknown time zone Europe/Kyiv`
)

// The report names the obstacle that keeps a CronJob from starting Jobs, and the remedy.
// Requirements: CRJ-01, CRJ-02.
func TestHindranceIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(*batchv1.CronJob)
		events  []input.Event
		state   explain.CronJobState
		text    string
		command string
	}{
		"suspended": {
			change: func(cj *batchv1.CronJob) { cj.Spec.Suspend, cj.Status.LastScheduleTime = ptr.To(true), nil },
			state:  explain.CronJobSuspended, text: "CronJob backup is suspended (spec.suspend), so it starts no Jobs; no Job has started yet.",
			command: `kubectl patch cronjob backup --type merge -p '{"spec":{"suspend":false}}' -n ns`,
		},
		"being deleted": {
			change: func(cj *batchv1.CronJob) { cj.DeletionTimestamp = ago(time.Hour) },
			state:  explain.CronJobDeleting, text: "was deleted 1h ago and is not gone yet, so", command: "kubectl get cronjob backup -o jsonpath='{.metadata.finalizers}' -n ns",
		},
		"refused by a quota": {
			events: []input.Event{event("FailedCreate", quota, time.Minute)}, state: explain.CronJobCreationRefused,
			text:    "CronJob backup cannot create its Jobs: ResourceQuota job-quota is exhausted. Requested: count/jobs.batch=1, used: count/jobs.batch=1, limited: count/jobs.batch=1. The last start was at 03:00:00 UTC (9h ago).",
			command: "kubectl describe resourcequota job-quota -n ns",
		},
		"refused by a webhook": {
			events: []input.Event{event("FailedCreate", `Error creating job: admission webhook "w.example" denied the request: no owner`, time.Minute)},
			state:  explain.CronJobCreationRefused, text: "cannot create its Jobs: admission webhook w.example denies them: no owner;",
			command: "kubectl edit cronjob backup -n ns",
		},
		"invalid template": {
			events: []input.Event{event("FailedCreate", `Error creating job: Job.batch "backup-1" is invalid: spec.template.spec.containers: Required value`, time.Minute)},
			state:  explain.CronJobCreationRefused, text: "cannot create its Jobs: the API server rejects the pod template as invalid: spec.template.spec.containers: Required value. The last start",
			command: "kubectl edit cronjob backup -n ns",
		},
		"overlap": {
			change: func(cj *batchv1.CronJob) {
				cj.Spec.ConcurrencyPolicy, cj.Status.Active = batchv1.ForbidConcurrent, []corev1.ObjectReference{{Name: "backup-1"}}
			},
			events: []input.Event{event("JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid", time.Minute)},
			state:  explain.CronJobOverlap, text: "CronJob backup starts no Job while backup-1 is still running (concurrencyPolicy Forbid);",
			command: "kubectl batchjob why backup-1 -n ns",
		},
		"overlap without its event": {
			change: func(cj *batchv1.CronJob) {
				cj.Spec.ConcurrencyPolicy, cj.Status.Active = batchv1.ForbidConcurrent, []corev1.ObjectReference{{Name: "a"}, {Name: "b"}}
				cj.Status.LastScheduleTime = ago(33 * time.Hour)
			},
			state: explain.CronJobOverlap, text: "starts no Job while a and b are still running", command: "kubectl batchjob why a -n ns",
		},
		"cannot replace": {
			change: func(cj *batchv1.CronJob) { cj.Spec.ConcurrencyPolicy = batchv1.ReplaceConcurrent },
			events: []input.Event{event("FailedDelete", "Deleted job: denied", time.Minute)},
			state:  explain.CronJobCannotReplace, text: "cannot replace the Job that is still running (concurrencyPolicy Replace): Deleted job: denied",
			command: "kubectl get events --field-selector involvedObject.kind=CronJob,involvedObject.name=backup -n ns",
		},
		"missed start": {
			change: func(cj *batchv1.CronJob) {
				cj.Spec.StartingDeadlineSeconds, cj.Status.LastScheduleTime = ptr.To[int64](30), ago(33*time.Hour)
			},
			events: []input.Event{event("MissSchedule", late, 8*time.Hour)}, state: explain.CronJobMissedStart,
			text:    "CronJob backup missed its start at 03:00:00 UTC (9h ago): no Job was created within startingDeadlineSeconds (30s). The next start is at 2026-03-02 03:00:00 UTC (in 15h).",
			command: "kubectl create job backup-missed --from=cronjob/backup -n ns",
		},
		"many missed starts": {
			events: []input.Event{event("TooManyMissedTimes", "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew", time.Minute)},
			state:  explain.CronJobManyMissed, text: "CronJob backup has missed more than 100 starts:",
			command: `kubectl patch cronjob backup --type merge -p '{"spec":{"startingDeadlineSeconds":600}}' -n ns`,
		},
		"unknown time zone": {
			change: func(cj *batchv1.CronJob) { cj.Spec.TimeZone = ptr.To("Europe/Kyiv") },
			events: []input.Event{event("UnknownTimeZone", zone, time.Minute)}, state: explain.CronJobUnknownZone,
			text:    `CronJob backup starts no Jobs: kube-controller-manager does not know the time zone "Europe/Kyiv"; the last start`,
			command: `kubectl patch cronjob backup --type merge -p '{"spec":{"timeZone":"Etc/UTC"}}' -n ns`,
		},
		"unknown time zone that was changed": {
			events: []input.Event{event("UnknownTimeZone", zone, time.Minute)}, state: explain.CronJobUnknownZone,
			text:    `does not know the time zone "Europe/Kyiv"; its timeZone is Etc/UTC now. The last start`,
			command: "kubectl get events --field-selector involvedObject.kind=CronJob,involvedObject.name=backup -n ns",
		},
		"unparseable schedule": {
			change: func(cj *batchv1.CronJob) { cj.Spec.Schedule = "0 3 * *" },
			events: []input.Event{event("UnparseableSchedule", `unparseable schedule: "0 3 * *" : expected exactly 5 fields`, time.Minute)},
			state:  explain.CronJobBadSchedule, text: `kube-controller-manager does not accept the schedule "0 3 * *"; the last start`,
			command: "kubectl edit cronjob backup -n ns",
		},
		"overdue": {
			change: func(cj *batchv1.CronJob) { cj.Status.LastScheduleTime = ago(33 * time.Hour) },
			state:  explain.CronJobOverdue, text: "CronJob backup should have started a Job at 03:00:00 UTC (9h ago), and no event shows why it has not; the last start",
			command: "kubectl get pods -n kube-system -l component=kube-controller-manager",
		},
	} {
		in := given(tc.change)
		in.Events = tc.events
		r := cronjob.Explain(in, nil)
		if r.State != tc.state || !strings.Contains(textOf(&r), tc.text) || len(r.Advice) == 0 || r.Advice[0].Command != tc.command {
			t.Errorf("%s: %s, %s %+v", name, r.State, r.Sentence, r.Advice)
		}
	}
}

// A CronJob without an obstacle reports when it started the last Job, and what deletes its Jobs.
// Requirements: CRJ-03.
func TestScheduledCronJobHasItsNextStart(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*batchv1.CronJob)
		jobs   []input.OwnedJob
		text   string
	}{
		"never": {
			change: func(cj *batchv1.CronJob) {
				cj.Status.LastScheduleTime, cj.CreationTimestamp = nil, *ago(time.Hour)
			},
			text: "CronJob backup has not started a Job yet; the next start is at 2026-03-02 03:00:00 UTC (in 15h).",
		},
		"only by hand": {
			change: func(cj *batchv1.CronJob) {
				cj.Status.LastScheduleTime, cj.CreationTimestamp = nil, *ago(time.Hour)
			},
			jobs: []input.OwnedJob{{Created: noon.Add(-time.Minute), Manual: true}},
			text: "CronJob backup has not started a Job on its schedule yet; the next start",
		},
		"in its own time zone": {
			change: func(cj *batchv1.CronJob) {
				cj.Spec.TimeZone, cj.Status.LastScheduleTime = ptr.To("America/New_York"), ago(4*time.Hour)
			},
			text: "the next start is at 2026-03-02 08:00:00 UTC (in 20h).",
		},
		"no Jobs left": {text: "CronJob backup has no Jobs now; the last start was at 03:00:00 UTC (9h ago); the next"},
		"successes are not kept": {
			change: func(cj *batchv1.CronJob) {
				cj.Spec.SuccessfulJobsHistoryLimit, cj.Status.LastSuccessfulTime = ptr.To[int32](0), ago(8*time.Hour)
			},
			text: "Jobs that succeeded are deleted at once (successfulJobsHistoryLimit 0)",
		},
		"failures are not kept": {
			change: func(cj *batchv1.CronJob) { cj.Spec.FailedJobsHistoryLimit = ptr.To[int32](0) },
			text:   "Jobs that failed are deleted at once (failedJobsHistoryLimit 0)",
		},
		"none are kept": {
			change: func(cj *batchv1.CronJob) {
				cj.Spec.FailedJobsHistoryLimit, cj.Spec.SuccessfulJobsHistoryLimit = ptr.To[int32](0), ptr.To[int32](0)
			},
			text: "Finished Jobs are deleted at once",
		},
		"deleted after a while": {
			change: func(cj *batchv1.CronJob) { cj.Spec.JobTemplate.Spec.TTLSecondsAfterFinished = ptr.To[int32](60) },
			text:   "its Jobs are deleted 1m after they finish (ttlSecondsAfterFinished)",
		},
		"with Jobs": {
			jobs: []input.OwnedJob{{Created: noon.Add(-9 * time.Hour)}},
			text: "CronJob backup started its last Job at 03:00:00 UTC (9h ago); the next start",
		},
		"with a schedule that nobody can compute": {
			change: func(cj *batchv1.CronJob) { cj.Spec.Schedule = "CRON_TZ=Nowhere 0 3 * * *" },
			text:   "the last start was at 03:00:00 UTC (9h ago).",
		},
	} {
		in := given(tc.change)
		in.Jobs = tc.jobs
		if r := cronjob.Explain(in, nil); r.State != explain.CronJobScheduled || !strings.Contains(textOf(&r), tc.text) {
			t.Errorf("%s: %s, %s %+v", name, r.State, textOf(&r), r.Advice)
		}
	}
}

// An obstacle is over once the CronJob has started a Job, as far as Jobs, events or the status show it.
// Requirements: CRJ-04.
func TestHindranceEndsWithTheNextStart(t *testing.T) {
	hindered := event("FailedCreate", quota, time.Hour)
	for name, tc := range map[string]struct {
		change func(*batchv1.CronJob)
		events []input.Event
		jobs   []input.OwnedJob
		want   explain.CronJobState
	}{
		"it goes on":           {want: explain.CronJobCreationRefused},
		"a Job was created":    {jobs: []input.OwnedJob{{Created: noon.Add(-time.Minute)}}, want: explain.CronJobScheduled},
		"a Job by hand":        {jobs: []input.OwnedJob{{Created: noon.Add(-time.Minute), Manual: true}}, want: explain.CronJobCreationRefused},
		"an older Job":         {jobs: []input.OwnedJob{{Created: noon.Add(-2 * time.Hour)}}, want: explain.CronJobCreationRefused},
		"an event":             {events: []input.Event{event("SuccessfulCreate", "Created job backup-2", time.Minute)}, want: explain.CronJobScheduled},
		"the status":           {change: func(cj *batchv1.CronJob) { cj.Status.LastScheduleTime = ago(time.Minute) }, want: explain.CronJobScheduled},
		"another hindrance":    {events: []input.Event{event("UnknownTimeZone", zone, time.Minute)}, want: explain.CronJobUnknownZone},
		"an older hindrance":   {events: []input.Event{event("UnknownTimeZone", zone, 2*time.Hour)}, want: explain.CronJobCreationRefused},
		"no Job runs anymore":  {events: []input.Event{event("JobAlreadyActive", "", time.Minute)}, want: explain.CronJobCreationRefused},
		"history not cleaned":  {events: []input.Event{event("FailedDelete", "Deleted job: no", time.Minute)}, want: explain.CronJobCreationRefused},
		"an event of no use":   {events: []input.Event{event("SawCompletedJob", "", time.Minute)}, want: explain.CronJobCreationRefused},
		"suspended since then": {change: func(cj *batchv1.CronJob) { cj.Spec.Suspend = ptr.To(true) }, want: explain.CronJobSuspended},
	} {
		in := given(tc.change)
		in.Events, in.Jobs = append([]input.Event{hindered}, tc.events...), tc.jobs
		assert.Equal(t, cronjob.Explain(in, nil).State, tc.want, name)
	}
}

// A start is not overdue if it may not be due yet: in another time zone, or if the controller is only a little late.
// Requirements: CRJ-04.
func TestOnlyCertainStartsAreOverdue(t *testing.T) {
	for name, change := range map[string]func(*batchv1.CronJob){
		"the time zone is not known": func(cj *batchv1.CronJob) { cj.Spec.TimeZone, cj.Status.LastScheduleTime = nil, ago(33*time.Hour) },
		"a minute late": func(cj *batchv1.CronJob) {
			cj.Spec.Schedule, cj.Status.LastScheduleTime = "59 11 * * *", ago(24*time.Hour+time.Minute)
		},
		"counted from its creation": func(cj *batchv1.CronJob) { cj.Spec.Schedule, cj.Status.LastScheduleTime = "@every 5m", nil },
	} {
		assert.Equal(t, cronjob.Explain(given(change), nil).State, explain.CronJobScheduled, name)
	}
	every := func(cj *batchv1.CronJob) { cj.Spec.TimeZone, cj.Spec.Schedule = nil, "*/5 * * * *" }
	if r := cronjob.Explain(given(every), nil); r.State != explain.CronJobOverdue || r.ZoneAssumed {
		t.Errorf("a schedule of minutes is the same in all time zones: %s, %s", r.State, r.Sentence)
	}
}

// A CronJob that does not exist, or may not be read, is reported as such, even if it has Jobs.
// Requirements: CRJ-05, CLI-08.
func TestCronJobThatCannotBeRead(t *testing.T) {
	in := input.CronJob{Now: noon, Namespace: "ns", Name: "backup", Jobs: []input.OwnedJob{{}}}
	if r := cronjob.Explain(in, nil); r.State != explain.CronJobGone || r.Sentence != "CronJob backup no longer exists, so it starts no more Jobs." {
		t.Errorf("%+v", r)
	}
	in.Gaps = []input.Gap{{What: "cronjobs"}}
	if r := cronjob.Explain(in, nil); r.State != explain.CronJobUnread || len(r.Gaps) != 1 || r.Sentence != "CronJob backup could not be read." {
		t.Errorf("%+v", r)
	}
}

// For any CronJob and events, the answer is a sentence.
// Requirements: CLI-13.
func FuzzExplain(f *testing.F) {
	f.Add("0 3 * * *", "Etc/UTC", "MissSchedule", late)
	f.Add("TZ=x * * * * *", "", "UnknownTimeZone", zone)
	f.Add("@every 1s", "\x00", "FailedCreate", quota)
	f.Fuzz(func(t *testing.T, schedule, zone, reason, message string) {
		in := given(func(cj *batchv1.CronJob) { cj.Spec.Schedule, cj.Spec.TimeZone = schedule, &zone })
		in.Events = []input.Event{event(reason, message, time.Minute)}
		if r := cronjob.Explain(in, nil); r.State == "" || !strings.HasSuffix(r.Sentence, ".") && !strings.HasSuffix(r.Sentence, "…") || utf8.RuneCountInString(r.Sentence) > 160 {
			t.Errorf("%+v", r)
		}
	})
}
