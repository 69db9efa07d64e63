package view

import (
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Issue 6: a thousand changes at once result in one Snapshot; a finished Job is not explained again, a running one is
// explained every second.
func TestManyChangesAreOneSnapshot(t *testing.T) {
	train := clitest.ExplainedJob("ns1", "train")
	api := newFakeLive(t, train, clitest.SimpleJob("ns1", "second", 1))
	api.pods.Put(clitest.EndedPod(train, "train-a", 42, ""))
	api.pods.Write("train-a/main", "reading")
	s := startLive(t, api)
	s.open("train")
	s.untilWatching("jobs 2 pods 1 events 2")
	// What the watches deliver may still cause one more report, however late this goroutine gets to it.
	s.until("the report of a finished Job is a minute old", func(got *snapshot.Snapshot) bool {
		return got.Time.Sub(got.Job.Report.ObservedAt.Time) > time.Minute
	})
	s.open("second")
	report := s.latest().Job.Report
	s.until("time passes in it", func(got *snapshot.Snapshot) bool {
		return got.Job.Report.ObservedAt.Sub(report.ObservedAt.Time) > 3*time.Second
	})
	s.end()
}
