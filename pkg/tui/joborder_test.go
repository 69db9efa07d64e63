package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// failedJob returns a Job that failed the given time ago.
func failedJob(name string, before time.Duration) explain.Outline {
	return explain.Outline{
		Namespace: "default", Name: name, UID: "uid-" + name, Status: "Failed", Outcome: reconcile.OutcomeFailed, Completions: ptr.To[int32](1), Failed: 1,
		Reason: "BackoffLimitExceeded", EndedBy: explain.EndedByBackoffLimit, Created: ago(before + time.Minute), Finished: ago(before),
	}
}

// retryOf makes a Job the n-th retry of another one.
func retryOf(o explain.Outline, first string, n int32) explain.Outline {
	o.Retry = &explain.RetryOf{Name: first, UID: "uid-" + first, Attempt: n}
	return o
}

// Changes of Jobs are shown at once; their rows move after some seconds, or when a key is pressed.
// Requirements: VIE-06
func TestRowsStayInTheirPlaces(t *testing.T) {
	items := someJobs()[3:]
	b := open(t, jobsSnapshot(items...), size{160, 24}, nil)
	before := b.names()
	news := func(after time.Duration) {
		b.now = b.now.Add(after)
		changed := jobsSnapshot(items...)
		changed.Seq, changed.Time = b.data.Snap.Seq+1, b.now
		b.send(snapshotMsg{snap: changed})
	}
	header := b.headers(t)
	items = slices.Clone(items)
	failing := &items[len(items)-1] // validate
	failing.Status, failing.Outcome, failing.Finished, failing.Failed, failing.Terminating = "Failed", reconcile.OutcomeFailed, ago(0), 3, ptr.To[int32](2)
	failing.FailedIndexes, failing.FailedIndexCount, failing.Reason = ptr.To("3,7,9"), 3, "FailedIndexes"
	news(time.Second)
	shows(b, "validate", "3: 3,7,9")
	assert.SlicesEqual(t, b.names(), before, "the order after a second")
	assert.Equal(t, b.headers(t), header, "the columns")
	news(5 * time.Second)
	if got := b.names(); slices.Equal(got, before) || got[1] != "validate" {
		t.Errorf("after six seconds, the order is %q", got)
	}
	failing.Outcome, failing.Status, failing.Finished = reconcile.OutcomeComplete, "Complete", ago(0)
	news(time.Second)
	b.press("S", "S")
	if got := b.names(); got[1] == "validate" {
		t.Errorf("after a key that sorts, the order is %q", got)
	}
}

// A retried Job is shown as its latest retry, under the original name.
// Requirements: VIE-08
func TestRetriesAreFoldedUnderTheirJob(t *testing.T) {
	running := retryOf(explain.Outline{Namespace: "default", Name: "big-retry-2", UID: "uid-2", Status: "Running", Completions: ptr.To[int32](9)}, "big", 2)
	s := jobsSnapshot(failedJob("big", time.Hour), retryOf(failedJob("big-retry-1", time.Minute), "big", 1), running, failedJob("other", time.Hour))
	b := open(t, s, size{80, 24}, nil)
	shows(b, "2 Jobs (and 2 earlier attempts)", "✗ 1 failed", "▶ 1 running", "big ↻2")
	hides(b, "big-retry")
	assert.Equal(t, strings.Join(b.names(), " "), "other big", "the rows")
	golden(t, "jobs.folded", b.picture())
	b.press("G", "enter")
	assert.Equal(t, b.focus.looked.Job, (types.NamespacedName{Namespace: "default", Name: "big-retry-2"}), "the row opens")
	b.press("q", "F")
	shows(b, "4 Jobs", "✗ 3 failed", "big-retry-1", "big-retry-2")
	hides(b, "↻2")
	b.press("F")
	shows(b, "2 Jobs")
}

// o folds the Jobs of a CronJob into a row that counts them, and that has no forms and logs of a Job; the cursor stays where it is.
// Requirements: VIE-08, CRJ-16
func TestJobsOfACronJobAreFolded(t *testing.T) {
	run := func(o explain.Outline) explain.Outline {
		o.Owner = &explain.Owner{APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly"}
		return o
	}
	complete := explain.Outline{Namespace: "default", Name: "nightly-1", UID: "uid-1", Status: "Complete", Outcome: reconcile.OutcomeComplete, Completions: ptr.To[int32](1)}
	running := explain.Outline{Namespace: "default", Name: "nightly-3", UID: "uid-3", Status: "Running", Completions: ptr.To[int32](1)}
	s := jobsSnapshot(run(complete), run(failedJob("nightly-2", time.Hour)), run(running), failedJob("other", time.Minute))
	b := open(t, s, size{80, 24}, func(o *Options) { startJobs(o); o.Changer = &fakeChanger{} })
	hides(b, "cronjob/nightly")
	b.press("G", "o") // nightly-1 is last, and its CronJob second.
	shows(b, "4 Jobs in", "✗ 2 failed", "▌ cj/nightly", "✗ 1 ▶ 1 ✓ 1", "CronJob, 3 Jobs", "CronJobs are folded")
	assert.Equal(t, strings.Join(b.names(), " "), "other cj/nightly", "the rows")
	for _, at := range []size{{80, 24}, {160, 50}} {
		b.send(windowSize(at.width, at.height))
		checkFrame(t, b, at)
		golden(t, fmt.Sprintf("jobs.byowner.%dx%d", at.width, at.height), b.picture())
	}
	b.send(windowSize(80, 24))
	b.press("G")
	for _, key := range []string{"Z", "ctrl+d", "l", "O"} {
		b.press(key)
		shows(b, "4 Jobs in", "no key "+key+" here")
	}
	assert.Equal(t, copied(t, b.press("y")), "nightly", "copied")
	for _, key := range []string{"e", "enter"} {
		b.press(key)
		assert.Equalf(t, b.focus.looked.CronJob, (types.NamespacedName{Namespace: "default", Name: "nightly"}), "%s opens", key)
		b.press("q")
	}
	b.press("/")
	b.write("nightly-2")
	b.press("enter") // A filter finds the Jobs below the row.
	assert.Equal(t, strings.Join(b.names(), " "), "cj/nightly", "the filter shows")
	b.press("esc", "o")
	shows(b, "▌ nightly-2", "CronJobs are unfolded")
	assert.Equal(t, strings.Join(b.names(), " "), "other nightly-2 nightly-3 nightly-1", "the rows")

	// A retry hides the Job that it repeats from the row of the CronJob, too.
	b = open(t, jobsSnapshot(run(failedJob("nightly-2", time.Hour)), retryOf(running, "nightly-2", 1), run(complete)), size{80, 24}, startJobs)
	b.press("o", "/")
	b.write("nightly")
	b.press("enter")
	shows(b, "2 of 2 rows", "2 Jobs (and 1 earlier attempt)", "cj/nightly", "✓ 1 ")
}

// l shows the most informative pod log of the Job under the cursor, or of the open Job.
// Requirements: VIE-07
func TestLogsOfAJob(t *testing.T) {
	s := load(t, "three-causes")
	want := s.Job.Report.Causes[0].Pods[0]
	for _, change := range []func(*Options){startJobs, nil} {
		b := open(t, s, size{80, 24}, change)
		b.View()
		b.press("l")
		if b.focus.looked.Pod != want || b.focus.looked.Log == nil {
			t.Errorf("it looks at %+v, want the log of %s", b.focus.looked, want)
		}
		shows(b, "2 Logs")
	}
	without := load(t, "quota")
	without.Job.Report.Pods, without.Job.Report.Causes = nil, nil
	b := open(t, without, size{80, 24}, nil, "l")
	shows(b, "The Job has no pods yet.")
	checkFrame(t, b, size{80, 24})
}
