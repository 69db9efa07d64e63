package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 6: the tabs of a Job, and its explanation, in every size and look, for Jobs in various states.
func TestTabsFitEverySize(t *testing.T) {
	for name, c := range map[string]struct {
		key  string
		jobs []string
	}{
		"overview": {"1", []string{
			"index-backoff", "failed-indexes", "max-failed-indexes", "running-success-policy", "failure-policy-named", "suspended",
			"terminating-holds-slot", "quota", "completions", "backoff", "three-causes", "pods-gone", "deadline-running", "work-queue",
		}},
		"indexes": {"2", []string{"index-backoff", "max-failed-indexes", "three-causes", "success-policy", "work-queue"}},
		"policies": {"3", []string{
			"failure-policy-named", "running-success-policy", "max-failed-indexes", "failed-indexes-rule", "invalid-rule-names", "backoff", "work-queue",
		}},
		"failures": {"4", []string{"three-causes", "failure-policy-named", "backoff-limit-oom", "pods-gone", "completions", "failed-indexes"}},
		"timeline": {"6", []string{"failure-policy-named", "three-causes", "image-pull", "success-policy"}},
		"explain":  {"e", []string{"failure-policy-named", "three-causes", "quota", "completions"}},
	} {
		for _, job := range c.jobs {
			t.Run(name+" "+job, func(t *testing.T) { goldens(t, name+"."+job, load(t, job), nil, c.key) })
		}
	}
}

// RTY-20, RTY-23: the Overview shows the retry family of the Job.
func TestOverviewShowsTheFamily(t *testing.T) {
	goldens(t, "overview.family", load(t, "../family/sweep"), nil)
}

// The Overview scrolls by keys and by the wheel, and shows that there are more lines.
func TestOverviewScrolls(t *testing.T) {
	b := open(t, load(t, "three-causes"), size{60, 16}, nil)
	const verdict, below = "60 of 60 indexes", "Success and limits"
	shows(b, verdict, "▼")
	hides(b, below)
	b.press("G")
	shows(b, below)
	hides(b, verdict, "▼")
	b.press("g")
	shows(b, verdict)
	b.press("down")
	hides(b, verdict)
	b.press("k")
	shows(b, verdict)
	b.press("pgdown")
	hides(b, verdict)
	b.press("pgup")
	shows(b, verdict)
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	hides(b, verdict)
}

// Issue 6: clocks advance with the reports, relative or by the time of day; between two reports they stop, as do the times in
// the sentences (issue 17).
func TestClocksRunWithTheReports(t *testing.T) {
	b := open(t, load(t, "index-backoff"), size{80, 24}, nil)
	shows(b, "in 8s, at 04:21:53: The first of 2 indexes in back-off gets its next pod", "next retry in 8s")
	b.now = b.now.Add(5e9)
	b.send(tickMsg(b.now))
	shows(b, "in 8s, at 04:21:53: The first of 2 indexes", "next retry in 8s")
	b.now = b.now.Add(-5e9)
	b.later(5e9)
	shows(b, "in 3s, at 04:21:53: The first of 2 indexes")
	b.press("r")
	shows(b, "next retry at 04:21:53")
	b.press("r")
	b.later(5e9)
	shows(b, "2s overdue")
}

// Issue 6: each limit shows how much is used and left; criteria that are met or out of reach say so.
func TestLimitsSayWhatIsLeft(t *testing.T) {
	s := load(t, "failure-policy-named")
	r := s.Job.Report
	limit, most := int32(3), int32(1)
	deadline := int64(3600)
	r.Job.BackoffLimitPerIndex, r.Job.MaxFailedIndexes, r.Job.ActiveDeadlineSeconds = &limit, &most, &deadline
	r.Indexes.Failed, r.Indexes.FailedCount = "", 0
	r.Indexes.Details = []explain.IndexInfo{{Index: 1, Failures: 3}, {Index: 2, Failures: 1}}
	r.SuccessPolicy = &explain.SuccessPolicy{Rules: []explain.SuccessRule{
		{Index: 0, Have: 1, Need: 1, Text: "1 of 1 of index 0", Met: true}, {Index: 1, Have: 0, Need: 1, Text: "0 of 1 of index 2", Impossible: true},
	}}
	r.FailuresWithoutPod = 7
	r.Waits = []explain.Wait{{Kind: explain.WaitGrace, Until: metav1.NewTime(s.Time.Add(30e9)), Text: "the grace period of 2 terminating pods is over"}}
	r.Gaps = []input.Gap{{What: "events", Text: "events could not be read"}}
	b := open(t, s, size{160, 50}, nil)
	shows(b,
		"rule 0    ████████████████  1 of 1 of index 0 ✓ met", "0 of 1 of index 2 ✗ out of reach", "or all 3",
		"2 of 6 retries used", "3 of 3 retries used (index 1)", "0 indexes failed, 1 allowed", "7s of 1h, not reached",
		"FailJob        1  any container exits with 42", "◀ ended the Job", "7 other failed pods are gone, and nothing recorded why",
		"Unread  Events could not be read",
	)
	// The text without colors is the same.
	plain := open(t, s, size{160, 50}, func(o *Options) { o.Color = false })
	assert.Equal(t, plain.picture(), b.picture(), "the text depends on colors")
}

// The overview shows who took pods of the Job.
// Requirements: CLI-80
func TestOverviewShowsDisruptions(t *testing.T) {
	s := sweep(t)
	s.Job.Report.Disruptions = &explain.Disruptions{Pods: 3, TimedPods: 3, LostSeconds: 1980, By: []explain.Disruption{
		{Ending: meaning.Ending{Kind: meaning.EndEvicted, By: meaning.ByKarpenter}, Why: "Underutilized", Pods: 3, TimedPods: 3, LostSeconds: 1980, Indexes: "3,7"},
	}}
	for _, at := range []size{{160, 40}, {80, 40}} {
		shows(open(t, s, at, nil), "Disruptions", "3 pods (33m of pod time)", "Evicted by Karpenter: Underutilized", "indexes 3,7")
	}
}

// shows fails unless the texts are on the screen.
func shows(b *testbed, texts ...string) {
	b.t.Helper()
	picture := b.picture()
	for _, text := range texts {
		if !strings.Contains(picture, text) {
			b.t.Errorf("%q is not on the screen:\n%s", text, picture)
		}
	}
}

// hides fails if any of the texts is on the screen.
func hides(b *testbed, texts ...string) {
	b.t.Helper()
	picture := b.picture()
	for _, text := range texts {
		if strings.Contains(picture, text) {
			b.t.Errorf("%q is on the screen:\n%s", text, picture)
		}
	}
}

// Issue 6.2: the small map uses exactly the lines that are free.
func TestOverviewMapGrows(t *testing.T) {
	s := load(t, "failed-indexes")
	s.Job.Report.Indexes = &explain.Indexes{Total: 100_000, Pending: "0-99999", PendingCount: 100_000}
	for _, at := range []size{{160, 50}, {80, 50}} {
		b := open(t, s, at, nil)
		checkFrame(t, b, at)
		var labels, empty int
		for _, line := range strings.Split(b.picture(), "\n") {
			if strings.Contains(line, "0 ··········") {
				labels++
			}
			if strings.TrimSpace(line) == "" {
				empty++
			}
		}
		if labels < 15 {
			t.Errorf("%s: the map has %d rows, and %d lines are empty:\n%s", at, labels, empty, b.picture())
		}
		hides(b, "more")
	}
	mostly := &explain.Indexes{Total: 100_000, Completed: "0-7,9-33999", Failed: "8,52100", Pending: "34000-52099,52101-99999"}
	b := open(t, withIndexes(t, mostly), size{120, 34}, nil)
	shows(b, "backoffLimit")
	hides(b, "▼")
}

// Issue 6.2: the overview says which data could not be read.
func TestOverviewNamesFailedReads(t *testing.T) {
	s := load(t, "running")
	s.Job.Report.Gaps = append(s.Job.Report.Gaps, input.Gap{What: "events", Text: "events may not be read"})
	shows(open(t, s, size{160, 50}, nil), "Events may not be read")
}
