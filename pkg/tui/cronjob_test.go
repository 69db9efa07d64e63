package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

var nightlyKey = types.NamespacedName{Namespace: "ml", Name: "nightly"}

// nightly returns a Snapshot of a CronJob with three runs, the first of which only events show.
func nightly() *snapshot.Snapshot {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *metav1.Time { return ptr.To(metav1.NewTime(now.Add(-d))) }
	const day = 24 * time.Hour
	report := &explain.CronJobReport{
		Namespace: "ml", Name: "nightly", ObservedAt: metav1.NewTime(now), State: explain.CronJobScheduled, Jobs: 2,
		Schedule: "0 3 * * *", ScheduleText: "every day at 03:00", TimeZone: "Etc/UTC", ConcurrencyPolicy: "Forbid", LastSchedule: ago(9 * time.Hour),
		LastSuccess: ago(2*day + 9*time.Hour), Next: ago(-15 * time.Hour), Skipped: []explain.SkippedStarts{{Reason: explain.CronJobOverlap, Starts: 2, Last: ago(day)}},
		Runs: []explain.OwnedRun{
			{Name: "nightly-3", State: explain.OwnedRunning, Started: ago(9 * time.Hour)},
			{Name: "nightly-2", State: explain.OwnedFailed, Started: ago(day + 9*time.Hour), Finished: ago(day + 8*time.Hour), Cause: "OOMKilled ×3"},
			{Name: "nightly-1", State: explain.OwnedSucceeded, Started: ago(2*day + 9*time.Hour), Finished: ago(2*day + 8*time.Hour), Removed: true},
		},
	}
	owner := &explain.Owner{APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly"}
	return &snapshot.Snapshot{
		Seq: 1, Time: now, Focus: snapshot.Focus{CronJob: nightlyKey}, CronJob: report,
		Jobs: &snapshot.Jobs{Items: []explain.Outline{
			{Namespace: "ml", Name: "alone", Status: "Running", Outcome: reconcile.OutcomeOpen},
			{Namespace: "ml", Name: "nightly-2", Status: "Failed", Outcome: reconcile.OutcomeFailed, Owner: owner},
		}},
	}
}

func startsWithNightly(o *Options) { o.Start, o.Job = StartCronJob, nightlyKey }

// A CronJob is drawn as status prints it, with a cursor on its runs.
// Requirements: CRJ-13.
func TestCronJobLooksAsRecorded(t *testing.T) {
	goldens(t, "cronjob.nightly", nightly(), startsWithNightly, "up", "down")
}

// The Source reads the CronJob; a run opens its Job, unless that no longer exists; esc returns to the list.
// Requirements: CRJ-13.
func TestRunsOfACronJobOpen(t *testing.T) {
	b := open(t, nightly(), size{80, 24}, startsWithNightly)
	if focus := b.source.looked[len(b.source.looked)-1]; focus.CronJob != nightlyKey || focus.Job.Name != "" {
		t.Errorf("%+v", focus)
	}
	b.View()
	b.press("down", "enter")
	assert.Equal(t, b.screens.top().Focus().Job, (types.NamespacedName{Namespace: "ml", Name: "nightly-2"}), "opened")
	b.press("esc", "down", "enter")
	assert.Contains(t, b.picture(), "job nightly-1 no longer exists")
	b.press("y")
	assert.Contains(t, b.picture(), "copied: nightly-1")
	b.press("esc")
	assert.Contains(t, b.picture(), "2 Jobs in")
}

// O opens the CronJob of the Job under the cursor, if it has one.
// Requirements: CRJ-13.
func TestCronJobOpensFromItsJob(t *testing.T) {
	b := open(t, nightly(), size{80, 24}, nil, "O")
	assert.Equal(t, b.screens.top().Focus().CronJob, nightlyKey, b.picture())
	b.press("esc", "down", "O")
	assert.Contains(t, b.picture(), "no CronJob owns this Job")
}

// A CronJob that was not read yet is waited for, and its page scrolls on a small terminal.
func TestCronJobIsWaitedFor(t *testing.T) {
	s := nightly()
	report := s.CronJob
	s.CronJob = nil
	b := open(t, s, size{60, 12}, startsWithNightly)
	assert.Contains(t, b.picture(), "Reading cronjob ml/nightly")
	b.news(s, func(read *snapshot.Snapshot) { read.CronJob = report })
	b.press("G")
	if picture := b.picture(); !strings.Contains(picture, "nightly-1") || strings.Contains(picture, "Schedule") {
		t.Error(picture)
	}
}

// fakeRunner runs CronJobs without a cluster.
type fakeRunner struct {
	err  error
	runs int
}

func (f *fakeRunner) Find(context.Context, types.NamespacedName) (*screen.Retryable, error) {
	plan := &screen.RetryPlan{Name: "nightly-x7k2p", Summary: "It has the template.", Warnings: []string{"a Job is running"}, Create: func(context.Context) error {
		f.runs++
		return f.err
	}}
	return &screen.Retryable{Plan: func(*indexset.Set) (*screen.RetryPlan, error) { return plan, nil }}, nil
}

// R runs a CronJob now, after a confirmation, and opens the new Job; a read-only view has no such key.
// Requirements: CRJ-15.
func TestCronJobRunsNow(t *testing.T) {
	runner := &fakeRunner{err: errors.New("jobs.batch is forbidden")}
	b := open(t, nightly(), size{80, 24}, func(o *Options) { startsWithNightly(o); o.Runner = runner })
	assert.Contains(t, b.picture(), "R run now")
	b.do(b.press("R"))
	golden(t, "cronjob.run", b.picture())
	b.press("enter")
	if !strings.Contains(b.picture(), "Create job nightly-x7k2p? y/N") || runner.runs != 0 {
		t.Error(b.picture())
	}
	b.do(b.press("y"))
	if !strings.Contains(b.picture(), "jobs.batch is forbidden") || runner.runs != 1 {
		t.Error(b.picture())
	}
	runner.err = nil
	b.press("esc")
	b.do(b.press("R"))
	b.press("enter")
	b.do(b.press("y"))
	if at := b.screens.top().Focus().Job; at.Name != "nightly-x7k2p" || runner.runs != 2 || !strings.Contains(b.picture(), "Created job nightly-x7k2p") {
		t.Errorf("%s\n%s", at, b.picture())
	}
	b = open(t, nightly(), size{80, 24}, startsWithNightly, "R")
	assert.Contains(t, b.picture(), "no key R here")
}

// A recording shows the CronJob that was open.
// Requirements: CRJ-13.
func TestRecordedCronJobIsFollowed(t *testing.T) {
	b := open(t, nightly(), size{80, 24}, func(o *Options) { o.Follow = true })
	assert.Equal(t, b.screens.top().Focus().CronJob, nightlyKey, b.picture())
}
