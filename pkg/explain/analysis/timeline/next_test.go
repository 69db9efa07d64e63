package timeline_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// CLI-06: the back-off starts with failed pods; when they no longer exist, its end is unknown.
func TestBackoffWithoutPodsHasNoEnd(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 2 }))
	explaintest.WantText(t, explaintest.Report(f), "at most 10 minutes after the last failure")
	explaintest.WantWithout(t, explaintest.Report(f), "2 pods are created")
	f = explaintest.InputOf(explaintest.JobWith(nil))
	explaintest.WantText(t, explaintest.Report(f), "2 pods are created")
}

// CLI-03: a Job with a failed index cannot become complete, except by its successPolicy.
func TestFailedIndexDoomsTheJob(t *testing.T) {
	lost := func(j *batchv1.Job) { j.Status.FailedIndexes, j.Status.Failed = ptr.To("1"), 4 }
	r := explaintest.Report(explaintest.InputOf(explaintest.IndexedJob(5, lost), explaintest.PodOf("a", explaintest.OnIndex(0, 1, nil))))
	explaintest.WantText(t, r, "it will eventually fail, because 1 index has failed", "the Job fails (FailedIndexes) once its other indexes have ended")
	r = explaintest.Report(explaintest.InputOf(explaintest.IndexedJob(5, func(j *batchv1.Job) {
		lost(j)
		j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
	}), explaintest.PodOf("a", explaintest.OnIndex(0, 1, nil))))
	explaintest.WantWithout(t, r, "will fail in the end", "FailedIndexes")
}
