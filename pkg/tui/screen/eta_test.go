package screen

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eta"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 6.2: successes before a Job was resumed are not evidence for its current rate.
func TestTimeLeftForgetsTimeBeforeResume(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	succeeded := func(before time.Duration) explain.PodInfo {
		ended := metav1.NewTime(at.Add(-before))
		return explain.PodInfo{Phase: "Succeeded", Counted: explain.Counted, Ended: &ended}
	}
	var pods []explain.PodInfo
	for i := range 8 {
		pods = append(pods, succeeded(time.Hour+time.Duration(i)))
	}
	pods = append(pods, succeeded(3*time.Minute), succeeded(2*time.Minute), succeeded(time.Minute))
	report := func(change func(*explain.Report)) *explain.Report {
		started := metav1.NewTime(at.Add(-20 * time.Minute))
		r := &explain.Report{
			Job: explain.Job{Started: &started}, ObservedAt: metav1.NewTime(at), Pods: pods,
			Verdict: explain.Verdict{Outcome: reconcile.OutcomeOpen}, Indexes: &explain.Indexes{Total: 14, CompletedCount: 11},
			Conditions: []explain.Condition{{Type: "Suspended", Status: "False", Reason: "JobResumed"}},
		}
		if change != nil {
			change(r)
		}
		return r
	}
	const unknown = "too few successes to estimate"
	for name, c := range map[string]struct {
		report  *explain.Report
		samples []eta.Progress
		want    eta.ETA
	}{
		"its pods tell":   {report(nil), nil, eta.ETA{Known: true, Remaining: 20 * time.Minute, PerMinute: 0.15, Method: "mean"}},
		"it was seen":     {report(func(r *explain.Report) { r.Pods = nil }), []eta.Progress{{Time: at.Add(-time.Hour), Done: 8}}, eta.ETA{Known: true, Remaining: 20 * time.Minute, PerMinute: 0.15, Method: "mean"}},
		"pods are gone":   {report(func(r *explain.Report) { r.Pods = pods[1:] }), nil, eta.ETA{Method: unknown}},
		"seen since":      {report(func(r *explain.Report) { r.Pods = nil }), []eta.Progress{{Time: at.Add(-3 * time.Minute), Done: 8}}, eta.ETA{Known: true, Remaining: 3 * time.Minute, PerMinute: 1, Method: "last 3m"}},
		"never suspended": {report(func(r *explain.Report) { r.Conditions = nil }), nil, eta.ETA{Known: true, Remaining: 3 * time.Minute * 20 / 11, PerMinute: 0.55, Method: "mean"}},
	} {
		j := &Job{Report: c.report, samples: c.samples}
		j.estimate()
		got := j.ETA
		got.Remaining, c.want.Remaining = got.Remaining.Round(time.Minute), c.want.Remaining.Round(time.Minute)
		if c.want.PerMinute-got.PerMinute > 1e-9 || got.PerMinute-c.want.PerMinute > 1e-9 {
			t.Errorf("%s: %f a minute, want %f", name, got.PerMinute, c.want.PerMinute)
		}
		if got.PerMinute = c.want.PerMinute; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Issue 6.2: a Job needs at least as long as its longest back-off.
func TestTimeLeftIsAtLeastTheBackoff(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) metav1.Time { return metav1.NewTime(at.Add(d)) }
	started, longest := in(-time.Minute), in(9*time.Minute)
	for name, c := range map[string]struct {
		waits   []explain.Wait
		details []explain.IndexInfo
		want    time.Duration
	}{
		"no back-off":     {nil, nil, 4 * time.Second},
		"the first index": {[]explain.Wait{{Kind: explain.WaitIndexBackoff, Until: in(time.Minute)}}, nil, time.Minute},
		"the last index":  {[]explain.Wait{{Kind: explain.WaitIndexBackoff, Until: in(time.Minute)}}, []explain.IndexInfo{{Index: 1, Until: &longest}, {Index: 2}}, 9 * time.Minute},
		"the Job":         {[]explain.Wait{{Kind: explain.WaitBackoff, Until: in(5 * time.Minute)}}, nil, 5 * time.Minute},
		"a deadline":      {[]explain.Wait{{Kind: explain.WaitDeadline, Until: in(5 * time.Minute)}}, nil, 4 * time.Second},
	} {
		j := &Job{Report: &explain.Report{
			Job: explain.Job{Started: &started}, ObservedAt: in(0), Verdict: explain.Verdict{Outcome: reconcile.OutcomeOpen},
			Waits: c.waits, Indexes: &explain.Indexes{Total: 16, CompletedCount: 15, Details: c.details},
		}}
		j.estimate()
		assert.Equalf(t, j.ETA.Remaining, c.want, "%s: %+v", name, j.ETA)
	}
}
