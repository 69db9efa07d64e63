package tui

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Issue 6.2: the header goes by the pods, as the bar and the map do, and not by the status.
func TestHeaderGoesByThePods(t *testing.T) {
	pod := func(phase, state, counted string, ready bool) explain.PodInfo {
		return explain.PodInfo{Phase: phase, State: state, Counted: counted, Ready: ready}
	}
	queue := []explain.PodInfo{
		pod("Running", "Running", "", true), pod("Running", "Running", "", false), pod("Running", "Terminating", "", true),
		pod("Succeeded", "Succeeded", explain.NotCounted, false), pod("Succeeded", "Succeeded", explain.Recorded, false), pod("Succeeded", "Succeeded", explain.Counted, false),
		pod("Failed", "Error", explain.NotCounted, false),
	}
	stale := explain.Counts{Active: 9, Ready: ptr.To[int32](8), Terminating: ptr.To[int32](7), Succeeded: 1, UncountedSucceeded: 1, Pods: ptr.To[int32](7)}
	indexes := &explain.Indexes{Total: 5, CompletedCount: 4, ActiveCount: 3, ReadyCount: 2, TerminatingCount: 1}
	unknown := &explain.Indexes{Total: 5, UnknownCount: 5}
	status := standing{succeeded: 2, active: 9, ready: 8, terminating: 7}
	for name, c := range map[string]struct {
		report explain.Report
		want   standing
	}{
		"a work queue":      {explain.Report{Counts: stale, Pods: queue}, standing{succeeded: 3, active: 2, ready: 1, terminating: 1}},
		"indexes":           {explain.Report{Counts: stale, Pods: queue, Indexes: indexes}, standing{succeeded: 2, active: 3, ready: 2, terminating: 1}},
		"unknown":           {explain.Report{Counts: stale, Indexes: unknown}, status},
		"some pods":         {explain.Report{Counts: stale, Pods: queue, PodsOmitted: 1}, status},
		"finished":          {explain.Report{Counts: stale, Pods: queue, Verdict: explain.Verdict{Fate: explain.FateComplete}}, status},
		"no pods read":      {explain.Report{Counts: explain.Counts{Active: 9, Ready: ptr.To[int32](8), Terminating: ptr.To[int32](7), Succeeded: 2}, Pods: queue}, status},
		"nobody knows what": {explain.Report{}, standing{ready: -1}},
	} {
		if got := standingOf(&c.report); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Issue 6: the failures of the header are those of the causes, and it says how many count.
func TestFailureTotals(t *testing.T) {
	type totals struct{ all, counted, awaiting, ignored int32 }
	causes := []explain.Cause{{Count: 9}, {Count: 2, Action: "Ignore"}, {Count: 1, Action: "Count"}}
	for name, c := range map[string]struct {
		report explain.Report
		want   totals
		words  string
	}{
		"by cause":  {explain.Report{Causes: causes, FailuresWithoutPod: 2, Counts: explain.Counts{Failed: 5, UncountedFailed: 1, AwaitReplacement: 6, IgnoredFailures: 1}}, totals{14, 6, 6, 2}, "failures (6 counted)"},
		"no causes": {explain.Report{Counts: explain.Counts{Failed: 1}}, totals{1, 1, 0, 0}, "failure"},
		"none":      {explain.Report{}, totals{}, "failures"},
	} {
		var got totals
		got.all, got.counted, got.awaiting, got.ignored = failureTotals(&jobData{Report: &c.report})
		if _, words := failureWords(&jobData{Report: &c.report}, allWords); got != c.want || words != c.words {
			t.Errorf("%s: %+v %q, want %+v %q", name, got, words, c.want, c.words)
		}
	}
}

// Issue 6.2: where there is little room the words get fewer, and the failures stay.
func TestHeaderFitsNarrowTerminals(t *testing.T) {
	s := changed(t, "running-success-policy", func(r *explain.Report) {
		soon, started := metav1.NewTime(r.ObservedAt.Add(time.Minute)), metav1.NewTime(r.ObservedAt.Add(-30*time.Second))
		r.Job.Started, r.Waits = &started, []explain.Wait{{Kind: explain.WaitIndexBackoff, Until: soon}}
		r.Indexes.TerminatingCount, r.Indexes.BackingOffCount, r.Indexes.FailedCount, r.Counts.Failed = 2, 3, 1, 14
		r.Causes = []explain.Cause{{Text: "x", Count: 20}}
	})
	for width, want := range map[int][2]string{
		160: {"3/10 · 7 active (7 ready) · 2 terminating · 3 in back-off · 1 index failed · 20 failures (14 counted)", "runs for 30s · next retry in 1m · ETA 1m to all 9 (6.0/min, mean)"},
		80:  {"30%  3/10 · 7 active · 2 ending · 3 back-off · 1 index failed · 20 failed", "runs for 30s · next retry in 1m · ETA 1m to all 9 (6.0/min, mean)"},
		60:  {"30%  3/10 · 7 active · 1 index failed · 20 failed", "runs for 30s · next retry in 1m · ETA 1m to all 9 (6.0/min)"},
		50:  {"30%  3/10 · 7 active · 1 index failed · 20 failed", "runs for 30s · next retry in 1m · ETA 1m to all 9"},
	} {
		b := open(t, s, size{width, 24}, nil)
		for i, l := range jobHeader(b.paint(), b.data.job)[1:] {
			if l.Width() > width || !strings.Contains(l.String(), want[i]) {
				t.Errorf("%d columns: %q of %d, want %q", width, l.String(), l.Width(), want[i])
			}
		}
	}
}
