package demo

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CLI-41. The rows of each Job of the demo are its failures, and no cause has two rows.
func TestPodsThatTheJobStoppedAreNoFailures(t *testing.T) {
	begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	source, err := NewSource(func() time.Time { return begun }, func(context.Context, time.Duration) error { return nil }, 0)
	assert.NoError(t, err)
	stopped := int32(0)
	for _, r := range source.runToEnd(limit) {
		totals, sum, seen := section.FailureTotals(&r), r.FailuresWithoutPod, map[string]bool{}
		for _, c := range section.OwnCauses(&r) {
			sum += c.Count
			if row := c.Text + c.Action; seen[row] {
				t.Errorf("%s has two rows of %q", r.Job.Name, c.Text)
			} else {
				seen[row] = true
			}
		}
		assert.Equal(t, sum, totals.All, r.Job.Name, "failures in the rows and in the header")
		if l := r.BackoffLimit; l != nil && l.Used > l.Limit && r.Verdict.Reason != batchv1.JobReasonBackoffLimitExceeded {
			t.Errorf("%s ended with %s, and exceeds its backoffLimit: %+v", r.Job.Name, r.Verdict.Reason, *l)
		}
		pods, _ := section.StoppedPods(&r)
		stopped += pods
	}
	if stopped == 0 {
		t.Error("no Job of the demo stops pods")
	}
}
