package feed

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: RUN-15
func TestStallLimitNeedsEveryJobStalledWithoutInterruption(t *testing.T) {
	a, b := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "a"}}, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "b"}}
	stuck, other, queued := &explain.Stall{}, &explain.Stall{Reason: "another way"}, &explain.Stall{MayContinue: true}
	limit := StallClock{LimitOf: func(s *explain.Stall) StallLimit {
		if s.MayContinue {
			return StallLimit{}
		}
		return StallLimit{Name: s.Reason, After: time.Minute}
	}}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, step := range []struct {
		after  time.Duration
		stalls map[types.UID]*explain.Stall
		want   bool
	}{
		{0, map[types.UID]*explain.Stall{"a": stuck, "b": stuck}, false},
		{59 * time.Second, map[types.UID]*explain.Stall{"a": stuck, "b": stuck}, false},
		{60 * time.Second, map[types.UID]*explain.Stall{"a": stuck, "b": queued}, false},
		{70 * time.Second, map[types.UID]*explain.Stall{"a": stuck, "b": stuck}, false}, // b counts from now.
		{80 * time.Second, map[types.UID]*explain.Stall{"a": nil, "b": stuck}, false},
		{130 * time.Second, map[types.UID]*explain.Stall{"a": stuck, "b": stuck}, false},
		{190 * time.Second, map[types.UID]*explain.Stall{"a": stuck, "b": stuck}, true},
		{200 * time.Second, map[types.UID]*explain.Stall{"a": stuck, "b": other}, false}, // Each way has its own time.
		{260 * time.Second, map[types.UID]*explain.Stall{"a": stuck, "b": other}, true},
	} {
		got := limit.Exceeded(start.Add(step.after), []*batchv1.Job{a, b}, func(job *batchv1.Job) *explain.Stall { return step.stalls[job.UID] })
		assert.Equalf(t, got, step.want, "step %d", i)
	}
	if limit.Exceeded(start, nil, nil) {
		t.Error("no Job is left to give up on")
	}
}
