package section

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// A suspended Job has no start time, whether or not it ran before.
func TestSuspendedJobThatRanWasStarted(t *testing.T) {
	for _, c := range []struct {
		report explain.Report
		want   string
	}{
		{explain.Report{}, "not started"},
		{explain.Report{Job: explain.Job{Suspend: true}}, "not started"},
		{explain.Report{Job: explain.Job{Suspend: true}, Counts: explain.Counts{Succeeded: 11, Failed: 3}}, "stopped when it was suspended"},
		{explain.Report{Job: explain.Job{Suspend: true}, Counts: explain.Counts{Failed: 1}}, "stopped when it was suspended"},
	} {
		if got := NotStarted(&c.report); got != c.want {
			t.Errorf("%+v: %q", c.report.Counts, got)
		}
	}
}
