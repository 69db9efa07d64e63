package section

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issues 6.2 and 17: pods are counted from the pods if they could be read, also for an Indexed Job, where two pods may have
// the same index. Completions of an Indexed Job are indexes.
func TestCountPods(t *testing.T) {
	n := ptr.To[int32]
	status := explain.Counts{Active: 9, Ready: n(8), Terminating: n(7), Completed: 2}
	read := status
	read.ActivePods, read.ReadyPods, read.TerminatingPods = n(3), n(2), n(1)
	indexes := &explain.Indexes{Total: 5, CompletedCount: 4, ActiveCount: 2, ReadyCount: 1}
	for name, c := range map[string]struct {
		report      explain.Report
		want        PodCounts
		done, total int32
	}{
		"pods":         {explain.Report{Counts: read}, PodCounts{Succeeded: 2, Active: 3, Ready: 2, Terminating: 1}, 2, 0},
		"indexes":      {explain.Report{Counts: read, Indexes: indexes}, PodCounts{Succeeded: 2, Active: 3, Ready: 2, Terminating: 1}, 4, 5},
		"no pods read": {explain.Report{Counts: status, Job: explain.Job{Completions: n(6)}}, PodCounts{Succeeded: 2, Active: 9, Ready: 8, Terminating: 7}, 2, 6},
		"nothing":      {explain.Report{}, PodCounts{Ready: -1}, 0, 0},
	} {
		got := CountPods(&c.report)
		if done, total := got.Done(&c.report); got != c.want || done != c.done || total != c.total {
			t.Errorf("%s: %+v, %d of %d; want %+v, %d of %d", name, got, done, total, c.want, c.done, c.total)
		}
	}
}

// Issue 6: failures come from the causes, with the number of those that count.
func TestHeaderAndCausesHaveOneTotal(t *testing.T) {
	causes := []explain.Cause{{Count: 9}, {Count: 2, Ruling: explain.Ruling{Action: "Ignore"}}, {Count: 1, Ruling: explain.Ruling{Action: "Count"}}}
	for name, c := range map[string]struct {
		report explain.Report
		want   Totals
	}{
		"by cause":  {explain.Report{Causes: causes, FailuresWithoutPod: 2, Counts: explain.Counts{Failed: 5, UncountedFailed: 1, AwaitReplacement: 6, IgnoredFailures: 1}}, Totals{14, 6, 6, 2}},
		"no causes": {explain.Report{Counts: explain.Counts{Failed: 1}}, Totals{1, 1, 0, 0}},
		"none":      {explain.Report{}, Totals{}},
	} {
		assert.Equal(t, FailureTotals(&c.report), c.want, name)
	}
}

// Issue 6.2: failures that do not count, or not yet, are distinguished.
func TestUncountedFailuresAreToldApart(t *testing.T) {
	cause := func(n int32, action string) explain.Cause {
		return explain.Cause{Count: n, Ruling: explain.Ruling{Action: action}}
	}
	for _, c := range []struct {
		want   string
		counts explain.Counts
		causes []explain.Cause
	}{
		{"1 failure, 1 cause", explain.Counts{Failed: 1}, []explain.Cause{cause(1, "")}},
		{"8 failures, 2 causes", explain.Counts{Failed: 8}, []explain.Cause{cause(5, ""), cause(3, "Count")}},
		{"2 failures (2 ignored), 1 cause", explain.Counts{IgnoredFailures: 2}, []explain.Cause{cause(2, "Ignore")}},
		{
			"14 failures (2 ignored), 4 causes", explain.Counts{Failed: 5, UncountedFailed: 1, AwaitReplacement: 6, IgnoredFailures: 2},
			[]explain.Cause{cause(6, ""), cause(5, ""), cause(2, "Ignore"), cause(1, "")},
		},
	} {
		assert.Equal(t, FailuresNote(&explain.Report{Counts: c.counts, Causes: c.causes}), c.want)
	}
}
