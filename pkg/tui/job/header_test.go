package job

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The header has one number of failures, whether the status counts all of them or not.
func TestFailureWords(t *testing.T) {
	causes := []explain.Cause{{Count: 9}, {Count: 2, Ruling: explain.Ruling{Action: "Ignore"}}, {Count: 1, Ruling: explain.Ruling{Action: "Count"}}}
	for want, report := range map[string]explain.Report{
		" - 14 failures": {
			Causes: causes, FailuresWithoutPod: 2, Counts: explain.Counts{Failed: 5, UncountedFailed: 1, AwaitReplacement: 6, IgnoredFailures: 1},
		},
		" - 1 failure": {Counts: explain.Counts{Failed: 1}},
		"":             {},
	} {
		p := &widget.Paint{Frame: section.Frame{Glyphs: layout.NewGlyphs(true)}}
		assert.Equal(t, countsOf(p, &screen.Job{Report: &report}, allWords).String(), want)
	}
}
