package section

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 6, 1: the bar has its width, each nonzero part has a column, and only a part that is the whole fills the bar.
func TestBarHasAColumnForEachPart(t *testing.T) {
	counts := []int64{0, 1, 3, 99, 100_000}
	for n := range 5 * 5 * 5 * 5 * 5 {
		var of [parts]int64
		present := 0
		for i, rest := 0, n; i < parts; i, rest = i+1, rest/5 {
			if of[i] = counts[rest%5]; of[i] > 0 {
				present++
			}
		}
		for _, width := range []int{8, 12} {
			cells, sum := share(of, width), 0
			for i, c := range cells {
				sum += c
				if of[i] > 0 && c < 1 || c == width && present > 1 {
					t.Fatalf("%v in %d: %v", of, width, cells)
				}
			}
			if sum != width {
				t.Fatalf("%v in %d: %v", of, width, cells)
			}
		}
	}
}

// Issue 17: the bar shows completions. A failed pod that is retried removes none, and neither does a pod that the Job itself
// stopped; an index that failed for good does.
func TestBarShowsCompletionsNotFailedPods(t *testing.T) {
	three, two, failed := int32(3), int32(2), "1"
	f := &Frame{}
	for want, o := range map[string]explain.Outline{
		"······": {Completions: &three, Failed: 4},
		"▒▒····": {Completions: &three, Active: 1, Failed: 4},
		"██~~~~": {Completions: &three, Succeeded: 1, Terminating: &two, Failed: 2},
		"██✗✗··": {Completions: &three, Succeeded: 1, Failed: 4, FailedIndexes: &failed, FailedIndexCount: 1},
		"▒▒▒▒▒▒": {Active: 2, Failed: 9},
		"██████": {Completions: &three, Succeeded: 3, Failed: 3, Outcome: reconcile.OutcomeComplete},
	} {
		assert.Equalf(t, ProgressOf(&o).Bar(f, 6).String(), want, "for %+v", o)
	}
	r := &explain.Report{Indexes: &explain.Indexes{Total: 3, CompletedCount: 1, FailedCount: 1, ActiveCount: 1}, Counts: explain.Counts{Failed: 5}}
	if counts := (PodCounts{Active: 1}); counts.Progress(r).Bar(f, 6).String() != "██▒▒✗✗" {
		t.Errorf("%+v", counts.Progress(r))
	}
}
