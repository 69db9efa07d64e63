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
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const noImage = `Back-off pulling image "registry.example/sync:relase-7": ErrImagePull: registry.example/sync:relase-7: not found`

// run is a Job of the CronJob, with the report on it.
type run struct {
	input.OwnedJob
	report explain.Report
}

func jobNamed(name string, age time.Duration, change func(*run)) run {
	r := run{OwnedJob: input.OwnedJob{Name: name, Created: noon.Add(-age)}}
	r.report.Job = explain.Job{Name: name, Created: ago(age)}
	if change != nil {
		change(&r)
	}
	return r
}

func stalled(r *run) {
	r.report.Verdict.Stalled, r.report.Verdict.Problem = true, ptr.To[int32](0)
	r.report.Problems = []explain.Problem{{Kind: explain.ProblemImagePull, Container: "sync", Image: "registry.example/sync:relase-7", Start: explain.Start{Reason: "ImagePullBackOff"}, Details: []string{noImage}, Since: r.report.Job.Created}}
}

func ended(outcome reconcile.Outcome, cause string) func(*run) {
	return func(r *run) {
		r.report.Verdict.Outcome, r.report.Job.Finished = outcome, ago(noon.Sub(r.Created)-time.Minute)
		if cause != "" {
			r.report.Verdict.Cause = &explain.DecidingCause{Text: cause}
		}
	}
}

func retrying(r *run) {
	r.report.Counts.Failed, r.report.Counts.StoppedFailures = 3, 1
	r.report.Causes = []explain.Cause{
		{Text: "1 pod was stopped", Stop: explain.Stop{Stopped: explain.StoppedExcess}},
		{Text: "Container main exited with code 3", Ended: explain.Ended{ExitCode: ptr.To[int32](3), LastLine: "no data"}},
	}
}

func both(x, y func(*run)) func(*run) {
	return func(r *run) {
		x(r)
		y(r)
	}
}

func byHand(r *run) { r.Manual = true }

// A Job that blocks the next one has to go if the template has been corrected since. Whether it has is not certain: others change Jobs, too.
// Requirements: CRJ-01, CRJ-02
func TestBlockingJobWithAnotherTemplateMayHaveToBeDeleted(t *testing.T) {
	template := corev1.PodSpec{Containers: []corev1.Container{{Name: "sync", Image: "sync:good"}}}
	cronJob := func(changed time.Duration) input.CronJob {
		return given(func(cj *batchv1.CronJob) {
			cj.Spec.ConcurrencyPolicy, cj.Spec.JobTemplate.Spec.Template.Spec = batchv1.ForbidConcurrent, template
			cj.Status.Active = []corev1.ObjectReference{{Name: "backup-1"}}
			cj.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl-edit", Time: ago(changed)}, {Manager: "kube-controller-manager", Subresource: "status", Time: ago(0)}}
		})
	}
	for name, tc := range map[string]struct {
		changed  time.Duration
		image    string
		outdated bool
	}{
		"corrected since":        {time.Hour, "sync:bad", true},
		"changed before":         {4 * time.Hour, "sync:bad", false},
		"changed, but not there": {time.Hour, "sync:good", false},
	} {
		job := jobNamed("backup-1", 3*time.Hour, stalled)
		job.Spec = &corev1.PodSpec{Containers: []corev1.Container{{Name: "sync", Image: tc.image}}}
		in := cronJob(tc.changed)
		in.Jobs, in.Events = []input.OwnedJob{job.OwnedJob}, []input.Event{event("JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid", time.Minute)}
		r := cronjob.Explain(in, []explain.OwnedRun{words.RunOf(&job.report, noon)})
		deletes := r.Advice[0].Command == "kubectl delete job backup-1 -n ns" && strings.HasPrefix(r.Advice[0].Text, "if the CronJob has been corrected since, ")
		if message := strings.Contains(textOf(&r), "pod template of this Job differs from the current one of the CronJob"); message != tc.outdated || deletes != tc.outdated {
			t.Errorf("%s: %s %+v", name, textOf(&r), r.Advice)
		}
	}
}

// What the Jobs of a CronJob do is in the first sentence: the last outcome, what blocks the next start, what piles up.
// Requirements: CRJ-01, CRJ-03, CRJ-06, CRJ-07.
func TestFirstSentenceHasTheJobs(t *testing.T) {
	active := func(policy batchv1.ConcurrencyPolicy, names ...string) func(*batchv1.CronJob) {
		return func(cj *batchv1.CronJob) {
			cj.Spec.ConcurrencyPolicy, cj.Spec.Schedule, cj.Status.LastScheduleTime = policy, "0 * * * *", ago(0)
			for _, name := range names {
				cj.Status.Active = append(cj.Status.Active, corev1.ObjectReference{Name: name})
			}
		}
	}
	for name, tc := range map[string]struct {
		change  func(*batchv1.CronJob)
		jobs    []run
		events  []input.Event
		state   explain.CronJobState
		first   string
		notes   string
		command string
	}{
		"the last one succeeded": {
			jobs: []run{jobNamed("backup-1", 9*time.Hour, ended(reconcile.OutcomeComplete, ""))}, state: explain.CronJobScheduled,
			first: "CronJob backup starts a Job every day at 03:00 (0 3 * * *); the last, backup-1, succeeded 8h59m ago; the next start is at 2026-03-02 03:00:00 UTC (in 15h).",
		},
		"the last one failed": {
			jobs:    []run{jobNamed("old", 33*time.Hour, ended(reconcile.OutcomeComplete, "")), jobNamed("backup-1", 9*time.Hour, ended(reconcile.OutcomeFailed, "container main exited with code 1: no such table"))},
			state:   explain.CronJobScheduled,
			first:   "CronJob backup last started backup-1, which failed 8h59m ago: container main exited with code 1: no such table.",
			command: "kubectl edit cronjob backup -n ns && kubectl create job backup-try --from=cronjob/backup -n ns",
		},
		"an older one failed": {
			change: func(cj *batchv1.CronJob) {
				cj.Spec.FailedJobsHistoryLimit, cj.Status.LastSuccessfulTime = ptr.To[int32](1), ago(8*time.Hour)
			},
			jobs:    []run{jobNamed("old", 33*time.Hour, ended(reconcile.OutcomeFailed, "container main exited with code 1")), jobNamed("backup-1", 9*time.Hour, ended(reconcile.OutcomeComplete, ""))},
			state:   explain.CronJobScheduled,
			first:   "CronJob backup last succeeded 8h ago; its failed Job old is older, and stays due to failedJobsHistoryLimit (1)",
			command: "kubectl delete job old -n ns",
		},
		"a newer one by hand failed": {
			jobs:  []run{jobNamed("backup-1", 9*time.Hour, ended(reconcile.OutcomeComplete, "")), jobNamed("now", time.Hour, both(byHand, ended(reconcile.OutcomeFailed, "container main exited with code 1")))},
			state: explain.CronJobScheduled, first: "CronJob backup runs its schedule; now, created by hand, failed 59m ago: container main exited with code 1",
		},
		"each start deletes the run before": {
			change: active(batchv1.ReplaceConcurrent, "backup-3"), jobs: []run{jobNamed("backup-3", time.Minute, nil)}, state: explain.CronJobReplaces,
			events: []input.Event{
				event("SuccessfulDelete", "Deleted job backup-0", 3*time.Hour), event("SuccessfulCreate", "Created job backup-1", 3*time.Hour),
				event("SawCompletedJob", "Saw completed job: backup-1, condition: Failed", 3*time.Hour), event("SuccessfulDelete", "Deleted job backup-1", 2*time.Hour),
				event("SuccessfulCreate", "Created job backup-2", 2*time.Minute), event("SuccessfulDelete", "Deleted job backup-2", time.Minute),
			},
			first: "CronJob backup deletes each run at the next start, before it has ended (concurrencyPolicy Replace): 1 Job so far; no run has succeeded yet",
		},
		"the last one runs, and one by hand": {
			jobs:  []run{jobNamed("backup-1", 9*time.Hour, nil), jobNamed("now", time.Hour, byHand)},
			state: explain.CronJobScheduled, first: "the last, backup-1, has been running for 9h; the next", notes: "1 Job that was created by hand is running.",
		},
		"the last one failed and was removed": {
			change:  func(cj *batchv1.CronJob) { cj.Spec.FailedJobsHistoryLimit = ptr.To[int32](0) },
			jobs:    []run{jobNamed("old", 33*time.Hour, ended(reconcile.OutcomeComplete, ""))},
			events:  []input.Event{event("SawCompletedJob", "Saw completed job: backup-1, condition: Failed", time.Hour)},
			state:   explain.CronJobScheduled,
			first:   "the last, of 03:00:00 UTC (9h ago), no longer exists and failed.",
			notes:   "Jobs that failed are deleted at once (failedJobsHistoryLimit 0).",
			command: `kubectl patch cronjob backup --type merge -p '{"spec":{"failedJobsHistoryLimit":1}}' -n ns`,
		},
		"a stalled Job blocks the next": {
			change: active(batchv1.ForbidConcurrent, "backup-1"), jobs: []run{jobNamed("backup-1", 3*time.Hour, stalled)}, state: explain.CronJobOverlap,
			first:   "CronJob backup starts no Job (Forbid): its Job backup-1 is stalled for 3h: image registry.example/sync:relase-7 of container sync cannot be pulled.",
			command: "kubectl batchjob why backup-1 -n ns",
		},
		"a Job runs past the next start": {change: active(batchv1.ForbidConcurrent, "a"), jobs: []run{jobNamed("a", 33*time.Hour, nil)}, state: explain.CronJobOverlap, first: "starts no Job (Forbid): its Job a has been running for 1d9h"},
		"the cause is too long for the sentence": {
			jobs:  []run{jobNamed("backup-1", 9*time.Hour, ended(reconcile.OutcomeFailed, "container upload-to-the-other-region exited with code 1: host name minio.minio.svc.cluster.local could not be resolved"))},
			state: explain.CronJobScheduled, first: "Job backup-1 failed 8h59m ago: container upload-to-the-other-region exited with code 1: host name minio.minio.svc.cluster.local could not be resolved.",
		},
		"the cause fits without the name of the CronJob": {
			jobs:  []run{jobNamed("backup-1", 9*time.Hour, ended(reconcile.OutcomeFailed, "container upload exited with code 1: host name minio.minio.svc.cluster.local could not be resolved"))},
			state: explain.CronJobScheduled, first: "The last Job, backup-1, failed 8h59m ago: container upload exited with code 1: host name minio.minio.svc.cluster.local could not be resolved.",
		},
		"a part of the cause would not say why": {
			jobs:  []run{jobNamed("backup-1", 9*time.Hour, ended(reconcile.OutcomeFailed, "container upload of the pod of index 17 was killed by its node, which had no memory left, and no event says which of its containers used too much of it"))},
			state: explain.CronJobScheduled, notes: "CronJob backup last started backup-1, which failed 8h59m ago.",
			first: "Container upload of the pod of index 17 was killed by its node, which had no memory left, and no event says which of its containers used too much of it.",
		},
		"the last one retries": {
			jobs: []run{jobNamed("backup-1", 9*time.Hour, retrying)}, state: explain.CronJobScheduled,
			first: "CronJob backup last started backup-1, which has 2 failed pods: container main exited with code 3: no data.",
		},
		"Jobs pile up": {
			change: active(batchv1.AllowConcurrent), state: explain.CronJobPileUp,
			jobs:    []run{jobNamed("c", 1*time.Hour, stalled), jobNamed("a", 3*time.Hour, stalled), jobNamed("b", 2*time.Hour, stalled)},
			first:   "CronJob backup has 3 Jobs at once, all stalled: ",
			notes:   "concurrencyPolicy Allow adds a Job at each start, and history limits remove only finished Jobs. The oldest of them, a, is stalled for 3h.",
			command: "kubectl edit cronjob backup -n ns",
		},
		"one of two is stalled": {
			change: active(batchv1.AllowConcurrent), state: explain.CronJobPileUp,
			jobs:  []run{jobNamed("a", 3*time.Hour, nil), jobNamed("b", 2*time.Hour, stalled)},
			first: "CronJob backup has 2 Jobs at once, 1 of them stalled: image registry.example/sync:relase-7 of container sync cannot be pulled.",
			notes: "The oldest of them, b, is stalled for 2h.",
		},
		"Jobs run at once": {
			change: active(batchv1.AllowConcurrent), state: explain.CronJobPileUp,
			jobs:    []run{jobNamed("b", 2*time.Hour, nil), jobNamed("a", 3*time.Hour, nil)},
			first:   "CronJob backup has 2 Jobs running at once, the oldest for 3h; concurrencyPolicy Allow adds a Job at each start",
			command: `kubectl patch cronjob backup --type merge -p '{"spec":{"concurrencyPolicy":"Forbid"}}' -n ns`,
		},
		"Jobs by hand are not replaced": {
			change: active(batchv1.ReplaceConcurrent), jobs: []run{jobNamed("x", time.Hour, byHand), jobNamed("y", time.Hour, nil)}, state: explain.CronJobManualJobs,
			events: []input.Event{event("UnexpectedJob", "Saw a job that the controller did not create or forgot: y", time.Minute)},
			first:  "CronJob backup has 2 running Jobs that were created by hand; concurrencyPolicy Replace covers only Jobs that it starts on its schedule.",
		},
		"starts were missed without an event": {
			change: func(cj *batchv1.CronJob) {
				cj.Spec.Schedule, cj.Spec.StartingDeadlineSeconds, cj.Status.LastScheduleTime = "*/30 * * * *", ptr.To[int64](9), ago(95*time.Minute)
			},
			state:   explain.CronJobMissedStart,
			first:   "CronJob backup has started no Job since 10:25:00 UTC (1h35m ago) and missed 3 starts: no Job was created within startingDeadlineSeconds (9s).",
			notes:   "startingDeadlineSeconds (9s) is so short that starts may be missed.",
			command: `kubectl patch cronjob backup --type merge -p '{"spec":{"startingDeadlineSeconds":600}}' -n ns`,
		},
		"a short deadline": {
			change: func(cj *batchv1.CronJob) { cj.Spec.StartingDeadlineSeconds = ptr.To[int64](5) }, state: explain.CronJobScheduled,
			first: "has no Jobs now", notes: "startingDeadlineSeconds (5s) is so short that starts may be missed.", command: `kubectl patch cronjob backup --type merge -p '{"spec":{"startingDeadlineSeconds":600}}' -n ns`,
		},
	} {
		in := given(tc.change)
		in.Events = tc.events
		var runs []explain.OwnedRun
		for _, job := range tc.jobs {
			in.Jobs, runs = append(in.Jobs, job.OwnedJob), append(runs, words.RunOf(&job.report, noon))
		}
		r := cronjob.Explain(in, runs)
		command := ""
		if len(r.Advice) > 0 {
			command = r.Advice[0].Command
		}
		if r.State != tc.state || !strings.Contains(r.Sentence, tc.first) || !strings.Contains(strings.Join(r.Notes, " "), tc.notes) || command != tc.command && tc.command != "" {
			t.Errorf("%s: %s, %q %q, %s", name, r.State, r.Sentence, r.Notes, command)
		}
		if utf8.RuneCountInString(r.Sentence) > 160 {
			t.Errorf("%s: %d characters", name, utf8.RuneCountInString(r.Sentence))
		}
		if stuck := strings.Contains(r.Sentence, "stalled"); stuck && !strings.Contains(r.Sentence, "sync:relase-7") {
			t.Errorf("%s lacks the cause: %s", name, r.Sentence)
		}
	}
}

// A start before the last change of the spec is not called missed: the schedule may have been another one.
// Requirements: CRJ-04.
func TestStartsAreCountedFromTheLastChange(t *testing.T) {
	in := given(func(cj *batchv1.CronJob) {
		cj.Spec.StartingDeadlineSeconds, cj.Status.LastScheduleTime = ptr.To[int64](30), ago(33*time.Hour)
		cj.ManagedFields = append(cj.ManagedFields, fieldsOf("", ago(time.Hour)), fieldsOf("status", ago(0)))
	})
	assert.Equal(t, cronjob.Explain(in, nil).State, explain.CronJobScheduled)
	in.CronJob.ManagedFields = in.CronJob.ManagedFields[1:]
	assert.Equal(t, cronjob.Explain(in, nil).State, explain.CronJobMissedStart, "changed status")
}

func fieldsOf(subresource string, at *metav1.Time) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: "kubectl", Subresource: subresource, Time: at}
}

// Requirements: CLI-06
func TestStartLongAfterItsTimeIsLate(t *testing.T) {
	for name, tc := range map[string]struct {
		scheduled, created time.Duration
		deadline           *int64
		first, note        string
	}{
		"late":            {9 * time.Hour, time.Minute, nil, "CronJob backup started backup-1 8h59m late (due 03:00:00 UTC); it succeeded 1m ago.", "No startingDeadlineSeconds limits how late"},
		"with a deadline": {9 * time.Hour, time.Minute, ptr.To[int64](86400), "CronJob backup started backup-1 8h59m late", "startingDeadlineSeconds (1d) lets a start be so late"},
		"in time":         {9 * time.Hour, 9 * time.Hour, nil, "CronJob backup starts a Job every day at 03:00", ""},
		"of another time": {8 * time.Hour, time.Minute, nil, "CronJob backup starts a Job every day at 03:00", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := given(func(cj *batchv1.CronJob) { cj.Spec.StartingDeadlineSeconds = tc.deadline })
			in.Jobs = []input.OwnedJob{{Name: "backup-1", Scheduled: ago(tc.scheduled).Time, Created: ago(tc.created).Time}}
			r := cronjob.Explain(in, []explain.OwnedRun{{Name: "backup-1", State: explain.OwnedSucceeded, Since: ago(time.Minute)}})
			assert.Contains(t, textOf(&r), tc.first)
			assert.Contains(t, textOf(&r), tc.note)
			assert.Equal(t, strings.Contains(r.Advice[0].Command, "startingDeadlineSeconds"), tc.note != "")
		})
	}
}
