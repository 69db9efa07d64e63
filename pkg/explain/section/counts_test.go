package section

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Issue 6.2: pods are counted as the bar and the map show them, and not as the status does.
func TestCountPods(t *testing.T) {
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
	status := PodCounts{Succeeded: 2, Active: 9, Ready: 8, Terminating: 7}
	for name, c := range map[string]struct {
		report explain.Report
		want   PodCounts
	}{
		"a work queue":      {explain.Report{Counts: stale, Pods: queue}, PodCounts{Succeeded: 3, Active: 2, Ready: 1, Terminating: 1}},
		"indexes":           {explain.Report{Counts: stale, Pods: queue, Indexes: indexes}, PodCounts{Succeeded: 2, Active: 3, Ready: 2, Terminating: 1}},
		"unknown":           {explain.Report{Counts: stale, Indexes: unknown}, status},
		"some pods":         {explain.Report{Counts: stale, Pods: queue, PodsOmitted: 1}, status},
		"finished":          {explain.Report{Counts: stale, Pods: queue, Verdict: explain.Verdict{Fate: explain.FateComplete}}, status},
		"no pods read":      {explain.Report{Counts: explain.Counts{Active: 9, Ready: ptr.To[int32](8), Terminating: ptr.To[int32](7), Succeeded: 2}, Pods: queue}, status},
		"nobody knows what": {explain.Report{}, PodCounts{Ready: -1}},
	} {
		if got := CountPods(&c.report); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Issue 6: the failures are those of the causes, and how many of them count.
func TestHeaderAndCausesHaveOneTotal(t *testing.T) {
	causes := []explain.Cause{{Count: 9}, {Count: 2, Action: "Ignore"}, {Count: 1, Action: "Count"}}
	for name, c := range map[string]struct {
		report explain.Report
		want   Totals
	}{
		"by cause":  {explain.Report{Causes: causes, FailuresWithoutPod: 2, Counts: explain.Counts{Failed: 5, UncountedFailed: 1, AwaitReplacement: 6, IgnoredFailures: 1}}, Totals{14, 6, 6, 2}},
		"no causes": {explain.Report{Counts: explain.Counts{Failed: 1}}, Totals{1, 1, 0, 0}},
		"none":      {explain.Report{}, Totals{}},
	} {
		if got := FailureTotals(&c.report); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Issue 6.2: failures that do not count, or not yet, are told apart.
func TestUncountedFailuresAreToldApart(t *testing.T) {
	cause := func(n int32, action string) explain.Cause { return explain.Cause{Count: n, Action: action} }
	for _, c := range []struct {
		want   string
		counts explain.Counts
		causes []explain.Cause
	}{
		{"1 failure, 1 cause", explain.Counts{Failed: 1}, []explain.Cause{cause(1, "")}},
		{"8 failures, 2 causes", explain.Counts{Failed: 8}, []explain.Cause{cause(5, ""), cause(3, "Count")}},
		{"2 failures (2 ignored), 1 cause", explain.Counts{IgnoredFailures: 2}, []explain.Cause{cause(2, "Ignore")}},
		{
			"14 failures (6 counted, 6 awaiting the next pod, 2 ignored), 4 causes", explain.Counts{Failed: 5, UncountedFailed: 1, AwaitReplacement: 6, IgnoredFailures: 2},
			[]explain.Cause{cause(6, ""), cause(5, ""), cause(2, "Ignore"), cause(1, "")},
		},
	} {
		if got := FailuresNote(&explain.Report{Counts: c.counts, Causes: c.causes}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
