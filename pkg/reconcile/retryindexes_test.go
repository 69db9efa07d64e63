package reconcile

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// retries has the Job run only some indexes.
func retries(indexes string) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Annotations = map[string]string{RetryIndexesAnnotation: indexes} }
}

// Issue 18: a retry runs the indexes of its annotation, whatever the status says, and counts the others as completed.
func TestRetryRunsItsIndexes_RTY_08(t *testing.T) {
	fresh := stored(func(s *batchv1.JobStatus) { s.StartTime = nil })
	o := observeJob(indexed(6, 6), perIndex(1), retries("1,4"), fresh)
	plan := o.compute()
	if got := planText(plan); got != "create 1(0,0); create 4(0,0)" || plan.Status == nil || plan.Status.Succeeded != 4 || plan.Status.CompletedIndexes != "0,2,3,5" {
		t.Errorf("%s, status %v", got, plan.Status)
	}
	// Its successes join what counts as completed; a stored status that says so already changes nothing.
	for _, status := range []func(*batchv1.Job){endedIndexes("", 0, ""), endedIndexes("0,2,3,5", 4, "")} {
		o = observeJob(indexed(6, 6), perIndex(1), retries("1,4"), status).
			with("p1", index(1), succeededPod(time.Second)).with("p4", index(4), failedPod(1, time.Hour), counts(1, 0))
		o.want(t, `status active 0 terminating 0 succeeded 5 failed 0 completedIndexes "0-3,5" failedIndexes "4" uncounted [] [p4] FailureTarget=True/FailedIndexes`)
		if t.Failed() {
			return
		}
	}
}

// A list that cannot be read runs nothing; indexes that the Job does not have anymore are no error (STV-18).
func TestDamagedRetryRunsNothing_RTY_08(t *testing.T) {
	for text, want := range map[string]string{"x": "", "3-1": "", "1,,2": "", "": "", "1,99": "create 1"} {
		plan := observeJob(indexed(3, 3), retries(text)).compute()
		got := planText(plan)
		if got != want || (want == "") != (plan.Findings.BadRetryIndexes != "") {
			t.Errorf("%q: %s, %q", text, got, plan.Findings.BadRetryIndexes)
		}
	}
	if plan := observeJob(sized(1, 1), retries("x")).compute(); len(plan.Create) != 1 {
		t.Errorf("a NonIndexed Job has no indexes: %s", planText(plan))
	}
}
