package cli

import (
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// Issue 6: at most ten Snapshots a second, and reports take an eighth of the time at most.
func TestLivePace_Issue6(t *testing.T) {
	at := func(ms int) time.Time { return testNow().Add(time.Duration(ms) * time.Millisecond) }
	made := func(reported, took int) livePace {
		return livePace{made: at(0), reported: at(reported), took: time.Duration(took) * time.Millisecond}
	}
	for _, c := range []struct {
		name string
		pace livePace
		need liveNeed
		want time.Time
	}{
		{"the first is made at once", livePace{}, liveNeed{}, time.Time{}},
		{"nothing to do", made(0, 1), liveNeed{}, at(30_000)},
		{"a list with Jobs that run", made(0, 1), liveNeed{beats: true}, at(1000)},
		{"a line of a log", made(0, 500), liveNeed{view: true}, at(100)},
		{"the first report waits for nothing", made(-10, 500), liveNeed{first: true}, at(100)},
		{"a cheap report, after a change", made(0, 1), liveNeed{facts: true}, at(100)},
		{"a report of 50 ms, after a change", made(0, 50), liveNeed{facts: true}, at(400)},
		{"a report of 500 ms, after a change", made(-20, 500), liveNeed{facts: true}, at(3980)},
		{"and a line of a log meanwhile", made(-20, 500), liveNeed{facts: true, view: true}, at(100)},
		{"only time passes", made(0, 1), liveNeed{clock: true}, at(1000)},
		{"only time passes, a report of 500 ms", made(0, 500), liveNeed{clock: true}, at(10_000)},
	} {
		if got := c.pace.due(c.need); !got.Equal(c.want) {
			t.Errorf("%s: after %s, want %s", c.name, got.Sub(at(0)), c.want.Sub(at(0)))
		}
	}
}

// Issue 6: a thousand changes at once are one Snapshot; a finished Job is not explained again, one that runs is each
// second.
func TestLivePaced_Issue6(t *testing.T) {
	train := explainedJob("ns1", "train")
	api := newFakeLive(t, train, simpleJob("ns1", "second", 1))
	api.pods.put(endedPod(train, "train-a", 42, ""))
	api.pods.write("train-a/main", "reading")
	s := startLive(t, api)
	s.open("train")
	s.untilWatching("jobs 2 pods 1 events 2")
	s.pass(5 * time.Second)
	report := s.latest().Job.Report
	s.pass(90 * time.Second)
	if got := s.latest(); got.Job.Report != report || got.Time.Sub(report.ObservedAt.Time) < time.Minute {
		t.Errorf("it was explained again, at %s", got.Job.Report.ObservedAt)
	}
	s.open("second")
	report = s.latest().Job.Report
	s.until("time passes in it", func(got *snapshot.Snapshot) bool {
		return got.Job.Report.ObservedAt.Sub(report.ObservedAt.Time) > 3*time.Second
	})
	s.end()
}
