package job

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// KEP-3850, KEP-3329: the line says how many failures count if not all of them do.
func TestFailuresLine(t *testing.T) {
	cause := func(n int32, action string) explain.Cause {
		return explain.Cause{Text: "x" + action, Count: n, Ruling: explain.Ruling{Action: action}}
	}
	for _, c := range []struct {
		counts explain.Counts
		causes []explain.Cause
		want   string
	}{
		{explain.Counts{Failed: 6, AwaitReplacement: 6, IgnoredFailures: 2}, []explain.Cause{cause(12, ""), cause(2, "Ignore")}, "14 failures (2 ignored), 2 causes"},
		{explain.Counts{Failed: 3}, []explain.Cause{cause(3, "")}, "3 failures, 1 cause"},
		{explain.Counts{}, []explain.Cause{cause(1, "")}, "1 failure, 1 cause"},
		{explain.Counts{Failed: 1}, []explain.Cause{cause(2, "")}, "2 failures, 1 cause"},
		{explain.Counts{}, nil, "No failures are known."},
	} {
		got := failuresLine(&screen.Job{Report: &explain.Report{Counts: c.counts, Causes: c.causes}}).String()
		assert.Equal(t, got, c.want)
	}
}
