package tui

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 6, 2: the header shows the outcome, the progress and the clocks, whatever the Job's state.
func TestHeaderHasOutcomeAndProgress(t *testing.T) {
	for _, at := range sizes {
		var all strings.Builder
		for _, fixture := range []string{
			"running", "running-success-policy", "completions", "work-queue", "failure-policy-named", "failure-target", "success-criteria-met", "suspended",
			"suspended-kueue", "deadline-running", "deadline", "controller-gone", "unknown-managed-by", "terminating-holds-slot", "index-backoff", "quota", "deleting",
		} {
			b := open(t, load(t, fixture), at, nil)
			all.WriteString("# " + fixture + "\n")
			for _, l := range header(b) {
				all.WriteString(l + "\n")
			}
		}
		golden(t, "header."+at.String(), all.String())
	}
}

// header returns the lines between the path and the tabs of a Job.
func header(b *testbed) []string { return strings.Split(b.picture(), "\n")[1:4] }

// changed returns a Snapshot of a fixture with a changed Report.
func changed(t *testing.T, fixture string, change func(*explain.Report)) *snapshot.Snapshot {
	t.Helper()
	s := load(t, fixture)
	change(s.Job.Report)
	return s
}

// The header contains its words.
func TestHeaderHasItsWords(t *testing.T) {
	s := changed(t, "running-success-policy", func(r *explain.Report) {
		soon := metav1.NewTime(r.ObservedAt.Add(time.Minute))
		r.Waits = []explain.Wait{{Kind: explain.WaitDeadline, Until: soon}, {Kind: explain.WaitTTL, Until: soon}}
		started := metav1.NewTime(r.ObservedAt.Add(-30 * time.Second))
		r.Job.Started, r.Counts.TerminatingPods = &started, ptr.To[int32](2)
		r.Indexes.BackingOffCount, r.Indexes.FailedCount, r.Counts.Failed = 3, 1, 1
		r.Reconciler.Alive = explain.NotAlive
	})
	b := open(t, s, size{160, 50}, nil)
	shows(b, "30%  3/10 · 7 active (7 ready) · 2 terminating · 3 in back-off · 1 index failed · 1 failure", "deadline in 1m · deleted in 1m · ETA 1m to all 9 (6.0/min, mean)",
		"run by batchjob.dev/controller ✗ not alive")
	b.later(3 * time.Second)
	shows(b, "33s so far", "deadline in 57s", "ETA 1m6s")
	b.press("r")
	shows(b, "deadline at 04:22:")
	// A deleted Job has no ETA.
	b.news(s, func(gone *snapshot.Snapshot) { gone.Job = &snapshot.Job{Report: s.Job.Report, Gone: true} })
	shows(b, "✗ Deleted  was Running")
	hides(b, "ETA")
}

// If there is no room for the controller, there is still room for the reason, and for an alarm.
func TestHeaderMakesRoom(t *testing.T) {
	s := load(t, "failure-policy-named")
	b := open(t, s, size{60, 20}, nil)
	shows(b, "PodFailurePolicy_SchemaTooOld  by rule 1")
	hides(b, "batchjob.dev/controller")
	b = open(t, changed(t, "failure-policy-named", func(r *explain.Report) { r.Reconciler.Alive = explain.NotAlive }), size{60, 20}, nil)
	shows(b, "controller not alive")
	// The names of the tabs are drawn closer together, and then left out.
	shows(b, " 1 Overview  2Indexes 3Policies 4Failures 5Pods 6Timeline")
	b.send(windowSize(50, 20))
	shows(b, " 1 Overview  2  3  4  5  6 ")
	b.send(windowSize(80, 24))
	shows(b, " 1 Overview  2 Indexes  3 Policies  4 Failures  5 Pods  6 Timeline ")
}

// Issue 6.2: on narrow terminals the header uses fewer words, but keeps the failures.
func TestHeaderFitsNarrowTerminals(t *testing.T) {
	s := changed(t, "running-success-policy", func(r *explain.Report) {
		soon, started := metav1.NewTime(r.ObservedAt.Add(time.Minute)), metav1.NewTime(r.ObservedAt.Add(-30*time.Second))
		r.Job.Started, r.Waits = &started, []explain.Wait{{Kind: explain.WaitIndexBackoff, Until: soon}}
		r.Indexes.BackingOffCount, r.Indexes.FailedCount, r.Counts.Failed, r.Counts.TerminatingPods = 3, 1, 14, ptr.To[int32](2)
		r.Causes = []explain.Cause{{Text: "x", Count: 20}}
	})
	for width, want := range map[int][2]string{
		160: {"3/10 · 7 active (7 ready) · 2 terminating · 3 in back-off · 1 index failed · 20 failures", "30s so far · next retry in 1m · ETA 1m to all 9 (6.0/min, mean)"},
		80:  {"30%  3/10 · 7 active · 2 ending · 3 back-off · 1 index failed · 20 failed", "30s so far · next retry in 1m · ETA 1m to all 9 (6.0/min, mean)"},
		60:  {"30%  3/10 · 7 active · 1 index failed · 20 failed", "30s so far · next retry in 1m · ETA 1m to all 9 (6.0/min)"},
		50:  {"30%  3/10 · 7 active · 1 index failed · 20 failed", "30s so far · next retry in 1m · ETA 1m to all 9"},
	} {
		b := open(t, s, size{width, 24}, nil)
		for i, l := range header(b)[1:] {
			assert.Contains(t, l, want[i], width)
		}
	}
}
