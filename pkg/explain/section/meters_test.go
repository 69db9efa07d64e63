package section

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Issue 6.2: limits state in words whether they are exceeded, and the distance to them only as long as it matters.
func TestLimitsSayWhetherTheyAreExceeded(t *testing.T) {
	limit := func(n int32) *int32 { return &n }
	failures := func(used, limit int32) *explain.BackoffLimit {
		return &explain.BackoffLimit{Unit: explain.LimitFailures, Used: used, Limit: limit, Left: max(limit-used+1, 0)}
	}
	restarts := func(used, limit, left int32) *explain.BackoffLimit {
		return &explain.BackoffLimit{Unit: explain.LimitRestarts, Used: used, Limit: limit, Left: left}
	}
	ended := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	began := metav1.NewTime(ended.Add(-time.Minute))
	deadline := int64(60)
	longer := int64(600)
	for _, c := range []struct {
		name, want string
		report     explain.Report
	}{
		{"left", "2 of 6 retries used", explain.Report{BackoffLimit: failures(2, 6)}},
		{"the last", "6 of 6 retries used; one more failure fails the Job", explain.Report{BackoffLimit: failures(6, 6)}},
		{"restarts", "1 of 2 restarts; restart 2 fails the Job", explain.Report{BackoffLimit: restarts(1, 2, 1)}},
		{"used up", "used up by restarts", explain.Report{BackoffLimit: restarts(2, 2, 0), Verdict: explain.Verdict{Outcome: reconcile.OutcomeFailed}}},
		{"failures nearer", "2 of 6 retries used, restarts count too", explain.Report{Job: explain.Job{RestartPolicy: "OnFailure"}, BackoffLimit: failures(2, 6)}},
		{"an index left", "1 index failed, 2 allowed", explain.Report{Job: explain.Job{MaxFailedIndexes: limit(2)}, Indexes: &explain.Indexes{FailedCount: 1}}},
		{"one index", "1 of 2 retries used (index 4)", explain.Report{
			Job: explain.Job{BackoffLimitPerIndex: limit(2)}, Indexes: &explain.Indexes{Details: []explain.IndexInfo{{Index: 4, Failures: 1}}},
		}},
		{"several indexes", "1 of 2 retries used (2 indexes)", explain.Report{
			Job: explain.Job{BackoffLimitPerIndex: limit(2)}, Indexes: &explain.Indexes{Details: []explain.IndexInfo{{Index: 4, Failures: 1}, {Index: 7, Failures: 1}}},
		}},
		{"any index", "0 of 3 retries used", explain.Report{Job: explain.Job{BackoffLimitPerIndex: limit(3)}}},
		{"pods unread", "unknown, 3 retries allowed", explain.Report{
			Job: explain.Job{BackoffLimitPerIndex: limit(3)}, Gaps: []input.Gap{{What: "pods"}},
		}},
		{"exceeded", "exceeded: 3 failures, 2 retries allowed", explain.Report{Job: explain.Job{Finished: &ended}, BackoffLimit: failures(3, 2)}},
		{"once", "exceeded: 1 failure, no retries allowed", explain.Report{BackoffLimit: failures(1, 0)}},
		{"another reason", "2 of 6 retries used", explain.Report{Job: explain.Job{Finished: &ended}, BackoffLimit: failures(2, 6)}},
		{"decided", "2 of 6 retries used", explain.Report{BackoffLimit: failures(2, 6), Verdict: explain.Verdict{Outcome: reconcile.OutcomeFailing}}},
		{"just so", "6 of 6 retries used", explain.Report{Job: explain.Job{Finished: &ended}, BackoffLimit: failures(6, 6)}},
		{"indexes", "exceeded: 3 indexes failed, 2 allowed", explain.Report{Job: explain.Job{MaxFailedIndexes: limit(2)}, Indexes: &explain.Indexes{FailedCount: 3}}},
		{"per index", "exceeded: 1 failure, no retries allowed (2 indexes)", explain.Report{
			Job: explain.Job{BackoffLimitPerIndex: limit(0)}, Indexes: &explain.Indexes{Details: []explain.IndexInfo{{Index: 1, Failures: 1}, {Index: 7, Failures: 1}}},
		}},
		{"many indexes", "exceeded: 1 failure, no retries allowed (at least 2 indexes)", explain.Report{
			Job: explain.Job{BackoffLimitPerIndex: limit(0)}, Indexes: &explain.Indexes{Details: []explain.IndexInfo{{Index: 1, Failures: 1}, {Index: 7, Failures: 1}}, DetailsOmitted: 3},
		}},
		{"each index", "0 of 3 retries used", explain.Report{Job: explain.Job{BackoffLimitPerIndex: limit(3), Finished: &ended}}},
		{"its pod is gone", "1 index failed, 3 retries allowed for each", explain.Report{
			Job: explain.Job{BackoffLimitPerIndex: limit(3)}, Indexes: &explain.Indexes{FailedCount: 1},
		}},
		{"no retries", "no retries allowed; the first failure fails the Job", explain.Report{BackoffLimit: failures(0, 0)}},
		{"in time", "1m of 10m, not reached", explain.Report{Job: explain.Job{ActiveDeadlineSeconds: &longer, Started: &began, Finished: &ended}}},
		{"too late", "1m of 1m, exceeded", explain.Report{Job: explain.Job{ActiveDeadlineSeconds: &deadline, Started: &began, Finished: &ended}}},
		{"clock", "1m of 10m, 9m left", explain.Report{Job: explain.Job{ActiveDeadlineSeconds: &longer, Started: &began}}},
	} {
		all := LimitMeters(&Frame{Now: ended.Time, Glyphs: layout.NewGlyphs(false)}, &c.report)
		if got := all[0].Text.String(); len(all) != 1 || got != c.want {
			t.Errorf("%s: %d limits, %q, want %q", c.name, len(all), got, c.want)
		}
	}
}

// Issue 6.2: with completions 0, no success is needed.
func TestZeroCompletionsNeedNoSuccess(t *testing.T) {
	none := int32(0)
	f := &Frame{Width: 80, Glyphs: layout.NewGlyphs(false)}
	lines := Success(f, &explain.Report{Job: explain.Job{Completions: &none}}, PodCounts{}).Lines
	if got := lines[0].String(); !strings.HasSuffix(got, "none needed ✓") || strings.Contains(got, f.Glyphs.BarEmpty) {
		t.Error(got)
	}
}

// Issue 6.2: a bar is narrower if its text would not fit on one line otherwise.
func TestMetersKeepTextsWhole(t *testing.T) {
	for _, c := range []struct{ text, lines, bar int }{{10, 1, wideBar}, {60, 1, wideBar}, {61, 1, narrowBar}, {68, 1, narrowBar}, {69, 2, wideBar}} {
		text := strings.Repeat("x ", c.text/2+1)[:c.text-1] + "x"
		lines := Meters(&Frame{Width: 84, Glyphs: layout.NewGlyphs(false)}, []Meter{{Name: "name", Have: 1, Total: 1, Text: layout.Plainly(text)}})
		if got := strings.Count(lines[0].String(), "█"); len(lines) != c.lines || got != c.bar {
			t.Errorf("a text of %d: %d lines, a bar of %d", c.text, len(lines), got)
		}
	}
}
