package joblist

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// What needs attention comes first: the latest failure before older ones, and failures of days ago after all that runs.
// Requirements: VIE-06
func TestJobsAreSortedByUrgency(t *testing.T) {
	now := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	ended := func(name string, outcome reconcile.Outcome, ago time.Duration) explain.Outline {
		at := metav1.NewTime(now.Add(-ago))
		return explain.Outline{Name: name, Outcome: outcome, Finished: &at}
	}
	want := []explain.Outline{
		{Name: "failing", Outcome: reconcile.OutcomeFailing},
		ended("failed a minute ago", reconcile.OutcomeFailed, time.Minute),
		ended("failed an hour ago", reconcile.OutcomeFailed, time.Hour),
		{Name: "with failures", Failed: 2},
		{Name: "suspended", Status: "Suspended"},
		{Name: "running"},
		{Name: "succeeding", Outcome: reconcile.OutcomeSucceeding},
		ended("failed two days ago", reconcile.OutcomeFailed, 48*time.Hour),
		ended("failed three days ago", reconcile.OutcomeFailed, 72*time.Hour),
		{Name: "complete", Outcome: reconcile.OutcomeComplete},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortStableFunc(got, func(a, b explain.Outline) int { return int(min(1, max(-1, urgencyOf(&b, now)-urgencyOf(&a, now)))) })
	for i := range want {
		assert.Equal(t, got[i].Name, want[i].Name, "the order")
	}
}
