package cronjob_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func adviceOf(r *explain.CronJobReport) string {
	var all []string
	for _, a := range r.Advice {
		all = append(all, a.Text)
	}
	return strings.Join(all, "\n")
}

// The next Job has the same template, so the cause of the one in the way is resolved before that is deleted.
// Requirements: CRJ-02
func TestCauseOfTheJobInTheWayComesFirst(t *testing.T) {
	in := given(func(cj *batchv1.CronJob) {
		cj.Spec.ConcurrencyPolicy = batchv1.ForbidConcurrent
		cj.Status.Active = append(cj.Status.Active, corev1.ObjectReference{Name: "backup-1"})
	})
	in.Jobs = []input.OwnedJob{{Name: "backup-1", Created: noon.Add(-9 * time.Hour)}}
	in.Events = []input.Event{event("JobAlreadyActive", "", time.Minute)}
	for _, state := range []explain.OwnedState{explain.OwnedFailing, explain.OwnedStalled, explain.OwnedRunning} {
		run := explain.OwnedRun{Name: "backup-1", State: state, Cause: "there is no program", Fix: &explain.Advice{Text: "fix the command"}}
		r := cronjob.Explain(in, []explain.OwnedRun{run})
		text := adviceOf(&r)
		fix, template, remove := strings.Index(text, "fix the command"), strings.Index(text, "edit spec.jobTemplate"), strings.Index(text, "delete it")
		if fix != 0 || template < fix || remove < template || strings.Contains(text, "find out what the Job that is still running does") {
			t.Errorf("%s: %s", state, text)
		}
	}
}

// Requirements: CRJ-02
func TestChangeOfACronJobBelongsToWhatCreatesIt(t *testing.T) {
	suspended := func(change func(*batchv1.CronJob)) string {
		r := cronjob.Explain(given(func(cj *batchv1.CronJob) {
			cj.Spec.Suspend = ptr.To(true)
			change(cj)
		}), nil)
		return adviceOf(&r)
	}
	assert.Contains(t, suspended(func(cj *batchv1.CronJob) { cj.Annotations = map[string]string{"meta.helm.sh/release-name": "shop"} }),
		"\nmake this change in the chart of release shop or its values, too")
	assert.Contains(t, suspended(func(cj *batchv1.CronJob) {
		cj.OwnerReferences = []metav1.OwnerReference{{Kind: "RecurringJob", Name: "nightly", Controller: ptr.To(true)}}
	}), "; make this change in RecurringJob nightly, whose controller would undo it")
	assert.NotContains(t, suspended(func(*batchv1.CronJob) {}), "make this change in")
}

// Requirements: CRJ-01
func TestJobByHandIsNoError(t *testing.T) {
	in := given(func(cj *batchv1.CronJob) { cj.Status.LastScheduleTime, cj.CreationTimestamp = nil, *ago(time.Hour) })
	in.Jobs = []input.OwnedJob{{Name: "backup-test", Created: noon.Add(-time.Minute)}}
	in.Events = []input.Event{event("UnexpectedJob", "Saw a job that the controller did not create or forgot: backup-test", time.Minute)}
	r := cronjob.Explain(in, []explain.OwnedRun{{Name: "backup-test", State: explain.OwnedSucceeded, Since: ago(30 * time.Second)}})
	assert.Contains(t, r.Sentence, "has started no Job on its schedule; backup-test, created by hand, succeeded 30s ago")
	assert.Contains(t, textOf(&r), "Its event UnexpectedJob is no error: it reports Job backup-test")
}

// A user may wonder why the last success stays old: a Job without a controller is not the CronJob's.
// Requirements: CRJ-01, CRJ-03
func TestSuccessByHandIsNoneOfTheCronJob(t *testing.T) {
	for uncontrolled, want := range map[bool]string{true: "Job backup-try, created by hand, succeeded 1m ago, and is no success of the CronJob: its owner reference lacks controller: true", false: ""} {
		in := given(func(cj *batchv1.CronJob) { cj.Status.LastSuccessfulTime = ago(26 * time.Hour) })
		in.Jobs = []input.OwnedJob{
			{Name: "backup-1", Created: noon.Add(-9 * time.Hour)}, {Name: "backup-try", Created: noon.Add(-2 * time.Minute), Manual: true, Uncontrolled: uncontrolled},
		}
		r := cronjob.Explain(in, []explain.OwnedRun{
			{Name: "backup-1", State: explain.OwnedFailed, Since: ago(9 * time.Hour), Cause: "container main exited with code 1", Logs: &explain.Advice{Kind: explain.AdviceLogs, Text: "read the whole log"}},
			{Name: "backup-try", State: explain.OwnedSucceeded, Since: ago(time.Minute)},
		})
		text := textOf(&r)
		assert.Contains(t, text, "which failed 9h ago: container main exited with code 1")
		assert.Contains(t, strings.ToLower(text), "the last success was at 2026-02-28 10:00:00 utc (1d2h ago)")
		assert.Equal(t, strings.Contains(text, "is no success of the CronJob"), uncontrolled)
		assert.Contains(t, text, want)
		assert.Contains(t, adviceOf(&r), "read the whole log\nto change the template, edit")
	}
}

// Requirements: CRJ-01
func TestJobThatNoLongerExistsBlocksNone(t *testing.T) {
	for name, want := range map[string]explain.CronJobState{"backup-1": explain.CronJobOverlap, "backup-0": explain.CronJobOverdue} {
		in := given(func(cj *batchv1.CronJob) {
			cj.Spec.ConcurrencyPolicy, cj.Status.LastScheduleTime = batchv1.ForbidConcurrent, ago(33*time.Hour)
			cj.Status.Active = []corev1.ObjectReference{{Name: "backup-1"}}
		})
		in.Jobs = []input.OwnedJob{{Name: name, Created: noon.Add(-33 * time.Hour)}}
		r := cronjob.Explain(in, []explain.OwnedRun{{Name: name, State: explain.OwnedRunning, Since: ago(33 * time.Hour)}})
		assert.Equal(t, r.State, want, name)
		assert.Equal(t, strings.Contains(textOf(&r), "status.active names backup-1, which has ended or no longer exists"), want == explain.CronJobOverdue)
	}
}

// Requirements: CRJ-01
func TestScheduleWithoutADayIsNamed(t *testing.T) {
	r := cronjob.Explain(given(func(cj *batchv1.CronJob) { cj.Spec.Schedule, cj.Status.LastScheduleTime = "0 0 30 2 *", nil }), nil)
	assert.Equal(t, r.Sentence, "CronJob backup never starts a Job: no day of the next years matches its schedule, 0 0 30 2 *.")
	assert.Equal(t, adviceOf(&r), "correct the schedule")
}

// Requirements: CRJ-01
func TestJobThatForbidDoesNotCountIsNamed(t *testing.T) {
	in := given(func(cj *batchv1.CronJob) {
		cj.Spec.ConcurrencyPolicy = batchv1.ForbidConcurrent
		cj.Status.Active = []corev1.ObjectReference{{Name: "backup-2"}}
	})
	in.Jobs = []input.OwnedJob{{Name: "backup-1", Created: noon.Add(-33 * time.Hour)}, {Name: "backup-2", Created: noon.Add(-9 * time.Hour)}}
	r := cronjob.Explain(in, []explain.OwnedRun{
		{Name: "backup-1", State: explain.OwnedRunning, Since: ago(33 * time.Hour)}, {Name: "backup-2", State: explain.OwnedRunning, Since: ago(9 * time.Hour)},
	})
	assert.Equal(t, r.Sentence, "CronJob backup has 2 Jobs running at once, the oldest for 1d9h; Forbid does not wait for backup-1, which its status.active does not name.")
	assert.Contains(t, adviceOf(&r), "delete the Job that the CronJob no longer counts")
	assert.NotContains(t, adviceOf(&r), "set concurrencyPolicy to Forbid")
}
