package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Issue 6, 2: failure policy, success criteria and limits, in every size and look.
func TestPolicies(t *testing.T) {
	for _, fixture := range []string{"failure-policy-named", "running-success-policy", "max-failed-indexes", "failed-indexes-rule", "invalid-rule-names", "backoff", "work-queue"} {
		t.Run(fixture, func(t *testing.T) { goldens(t, "policies."+fixture, load(t, fixture), nil, "3") })
	}
}

// What does not fit is scrolled to, and the last line says that it is there.
func TestPoliciesScroll(t *testing.T) {
	for _, there := range []string{"down", "j", "pgdown", "f", "G", "end"} {
		b := open(t, load(t, "failure-policy-named"), size{60, 18}, nil)
		b.press("3")
		shows(b, "▼ 6 more", "Failure policy")
		hides(b, "podReplacementPolicy")
		before := b.picture()
		b.press(there)
		if b.picture() == before {
			t.Errorf("%q does not scroll", there)
		}
		b.press("G")
		shows(b, "terminating ones hold")
		hides(b, "▼", "Failure policy")
		b.press("g")
		if b.picture() != before {
			t.Errorf("after G and g:\n%s", b.picture())
		}
	}
	b := open(t, load(t, "failure-policy-named"), size{60, 18}, nil)
	b.press("3")
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	hides(b, "Failure policy")
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	shows(b, "Failure policy")
}

// KEP-3939: when a pod gets its successor.
func TestPoliciesTellOfReplacement(t *testing.T) {
	s := load(t, "running")
	r := *s.Job.Report
	s.Job.Report = &r
	r.Job.PodReplacementPolicy = "Failed"
	b := open(t, s, size{160, 50}, nil)
	b.press("3")
	shows(b, "podReplacementPolicy Failed: a pod is replaced once it has ended")
	r.Job.PodReplacementPolicy = "TerminatingOrFailed"
	b = open(t, s, size{160, 50}, nil)
	b.press("3")
	shows(b, "podReplacementPolicy TerminatingOrFailed: a pod is replaced as soon as it is being deleted")
}

// Issue 6.2: limits say in words whether they are exceeded, and what is left only as long as
// that matters.
func TestLimitMeters(t *testing.T) {
	limit := func(n int32) *int32 { return &n }
	ended := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	began := metav1.NewTime(ended.Add(-time.Minute))
	deadline := int64(60)
	longer := int64(600)
	for _, c := range []struct {
		name, want string
		report     explain.Report
	}{
		{"left", "2 of 6, 4 left", explain.Report{Job: explain.Job{BackoffLimit: limit(6)}, Counts: explain.Counts{Failed: 1, UncountedFailed: 1}}},
		{"exceeded", "exceeded: 3 failures, 2 allowed", explain.Report{Job: explain.Job{BackoffLimit: limit(2), Finished: &ended}, Counts: explain.Counts{Failed: 3}}},
		{"once", "exceeded: 1 failure, 0 allowed", explain.Report{Job: explain.Job{BackoffLimit: limit(0)}, Counts: explain.Counts{Failed: 1}}},
		{"another reason", "2 of 6, not reached", explain.Report{Job: explain.Job{BackoffLimit: limit(6), Finished: &ended}, Counts: explain.Counts{Failed: 2}}},
		{"decided", "2 of 6, not reached", explain.Report{Job: explain.Job{BackoffLimit: limit(6)}, Counts: explain.Counts{Failed: 2}, Verdict: explain.Verdict{Fate: explain.FateFailing}}},
		{"just so", "6 of 6, not exceeded", explain.Report{Job: explain.Job{BackoffLimit: limit(6), Finished: &ended}, Counts: explain.Counts{Failed: 6}}},
		{"indexes", "exceeded: 3 failed indexes, 2 allowed", explain.Report{Job: explain.Job{MaxFailedIndexes: limit(2)}, Indexes: &explain.Indexes{FailedCount: 3}}},
		{"per index", "exceeded: 1 failure, 0 allowed (2 indexes)", explain.Report{
			Job: explain.Job{BackoffLimitPerIndex: limit(0)}, Indexes: &explain.Indexes{Details: []explain.IndexInfo{{Index: 1, Failures: 1}, {Index: 7, Failures: 1}}},
		}},
		{"each index", "0 of 3, not reached for each index", explain.Report{Job: explain.Job{BackoffLimitPerIndex: limit(3), Finished: &ended}}},
		{"in time", "1m of 10m, not reached", explain.Report{Job: explain.Job{ActiveDeadlineSeconds: &longer, Started: &began, Finished: &ended}}},
		{"too late", "1m of 1m, exceeded", explain.Report{Job: explain.Job{ActiveDeadlineSeconds: &deadline, Started: &began, Finished: &ended}}},
		{"clock", "1m of 10m, 9m left", explain.Report{Job: explain.Job{ActiveDeadlineSeconds: &longer, Started: &began}}},
	} {
		all := limitMeters(&paint{now: ended.Time, glyphs: layout.NewGlyphs(false)}, &jobData{Report: &c.report})
		if got := all[0].text.String(); len(all) != 1 || got != c.want {
			t.Errorf("%s: %d limits, %q, want %q", c.name, len(all), got, c.want)
		}
	}
}

// Issue 6.2: with completions 0 nothing has to succeed.
func TestNoCompletionsNeeded(t *testing.T) {
	none := int32(0)
	p := &paint{width: 80, glyphs: layout.NewGlyphs(false)}
	lines := successLines(p, &jobData{Report: &explain.Report{Job: explain.Job{Completions: &none}}})
	if got := lines[0].String(); !strings.HasSuffix(got, "none needed ✓") || strings.Contains(got, p.glyphs.BarEmpty) {
		t.Error(got)
	}
}

// Issue 6.2: a bar is narrower where its text would be broken otherwise.
func TestMetersKeepTextsWhole(t *testing.T) {
	for _, c := range []struct{ text, lines, bar int }{{10, 1, wideBar}, {60, 1, wideBar}, {61, 1, narrowBar}, {68, 1, narrowBar}, {69, 2, wideBar}} {
		text := strings.Repeat("x ", c.text/2+1)[:c.text-1] + "x"
		lines := meters(&paint{width: 84, glyphs: layout.NewGlyphs(false)}, []meter{{name: "name", have: 1, total: 1, text: layout.Plainly(text)}})
		if got := strings.Count(lines[0].String(), "█"); len(lines) != c.lines || got != c.bar {
			t.Errorf("a text of %d: %d lines, a bar of %d", c.text, len(lines), got)
		}
	}
}
