package tui

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// storm returns a Job of 100,000 indexes, no two neighbors in the same state, with 10,000 pods.
func storm(b *testing.B) *snapshot.Snapshot {
	const total, pods = 100_000, 10_000
	lists := make([][]int32, 7)
	for i := range int32(total) {
		lists[i%7] = append(lists[i%7], i)
	}
	text := func(i int) string { return indexset.Of(lists[i]...).String() }
	n := int32(total / 7)
	s := withIndexes(b, &explain.Indexes{
		Total: total, Completed: text(0), Failed: text(1), Active: text(2), Terminating: text(3), BackingOff: text(4), Pending: text(5), Unknown: text(6),
		CompletedCount: n, FailedCount: n, ActiveCount: n, TerminatingCount: n, BackingOffCount: n, PendingCount: n, UnknownCount: n,
	})
	r := s.Job.Report
	created := metav1.NewTime(s.Time.Add(-1e10))
	for i := range int32(pods) {
		index := i*10 + 1
		name := fmt.Sprintf("train-%d-abcde", index)
		r.Pods = append(r.Pods, explain.PodInfo{Name: name, Index: &index, Attempt: 2, Phase: "Failed", State: "Error", Created: &created, Cause: "container main exited with code 1"})
		r.Indexes.Details = append(r.Indexes.Details, explain.IndexInfo{Index: index, State: explain.IndexFailed, Attempt: 2, Attempts: 3, Failures: 2, Pod: name, Cause: "container main exited with code 1"})
	}
	exit := int32(1)
	r.Causes = []explain.Cause{{Text: "container main exited with code 1", Count: pods, Ended: explain.Ended{ExitCode: &exit}, Lost: explain.Lost{Indexes: r.Indexes.Failed}}}
	return s
}

// BenchmarkFrame measures a frame of a huge Job at 160x50: issue 6 requires less than 10 ms. "news" includes a new Report for
// each frame, as when the Job changes all the time.
func BenchmarkFrame(b *testing.B) {
	s := storm(b)
	for _, tab := range []struct{ name, key string }{{"overview", "1"}, {"indexes", "2"}} {
		bed := open(b, s, size{160, 50}, nil)
		bed.press(tab.key)
		b.Run(tab.name, func(b *testing.B) {
			for b.Loop() {
				bed.drawn = false
				_ = bed.View()
			}
		})
		b.Run(tab.name+"-news", func(b *testing.B) {
			for b.Loop() {
				r := *s.Job.Report
				news := *s
				news.Job = &snapshot.Job{Report: &r}
				bed.data.SetSnapshot(&news)
				bed.drawn = false
				_ = bed.View()
			}
		})
	}
}
