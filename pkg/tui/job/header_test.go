package job

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
)

// Issue 6: the header says how many failures count if not all do.
func TestFailureWords(t *testing.T) {
	causes := []explain.Cause{{Count: 9}, {Count: 2, Action: "Ignore"}, {Count: 1, Action: "Count"}}
	for words, c := range map[string]struct {
		report explain.Report
		all    int32
	}{
		"failures (6 in the status)": {explain.Report{Causes: causes, FailuresWithoutPod: 2, Counts: explain.Counts{Failed: 5, UncountedFailed: 1, AwaitReplacement: 6, IgnoredFailures: 1}}, 14},
		"failure":                    {explain.Report{Counts: explain.Counts{Failed: 1}}, 1},
		"failures":                   {explain.Report{}, 0},
	} {
		if all, got := failureWords(&screen.Job{Report: &c.report}, allWords); all != c.all || got != words {
			t.Errorf("%d %q, want %d %q", all, got, c.all, words)
		}
	}
}
