package reconcile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// retries makes the Job run only some of the indexes that it had when it was created; completions may be "".
func retries(indexes, completions string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Annotations = map[string]string{RetryIndexesAnnotation: indexes}
		if completions != "" {
			j.Annotations[RetryCompletionsAnnotation] = completions
		}
	}
}

// Issue 18: a retry runs the indexes of its annotation, whatever the status, and counts the others as completed.
// Requirements: RTY-08
func TestRetryRunsItsIndexes(t *testing.T) {
	fresh := stored(func(s *batchv1.JobStatus) { s.StartTime = nil })
	o := observeJob(indexed(6, 6), perIndex(1), retries("1,4", "6"), fresh)
	plan := o.compute()
	if got := planText(plan); got != "create 1(0,0); create 4(0,0)" || plan.Status == nil || plan.Status.Succeeded != 4 || plan.Status.CompletedIndexes != "0,2,3,5" {
		t.Errorf("%s, status %v", got, plan.Status)
	}
	// Its successes are added to the completed indexes; a stored status that contains them already changes nothing.
	for _, status := range []func(*batchv1.Job){endedIndexes("", 0, ""), endedIndexes("0,2,3,5", 4, "")} {
		o = observeJob(indexed(6, 6), perIndex(1), retries("1,4", "6"), status).
			with("p1", index(1), succeededPod(time.Second)).with("p4", index(4), failedPod(1, time.Hour), counts(1, 0))
		o.want(t, `status active 0 terminating 0 succeeded 5 failed 0 completedIndexes "0-3,5" failedIndexes "4" uncounted [] [p4] FailureTarget=True/FailedIndexes`)
		if t.Failed() {
			return
		}
	}
}

// If the list cannot be read, no index runs; indexes that the Job does not have anymore are not an error (STV-18).
// Requirements: RTY-08
func TestDamagedRetryRunsNothing(t *testing.T) {
	for text, want := range map[string]string{"x": "", "3-1": "", "1,,2": "", "": "", "1,99": "create 1"} {
		plan := observeJob(indexed(3, 3), retries(text, "3")).compute()
		got := planText(plan)
		if got != want || (want == "") != strings.HasPrefix(plan.Findings.BadRetryIndexes, "batchjob.dev/retry-indexes cannot be read: ") {
			t.Errorf("%q: %s, %q", text, got, plan.Findings.BadRetryIndexes)
		}
	}
	assert.Equal(t, len(observeJob(sized(1, 1), retries("x", "1")).compute().Create), 1, "a NonIndexed Job has no indexes")
}

// A retry that is scaled up runs the indexes it has gained; a retry that is scaled down and up again keeps the indexes
// it left out.
// Requirements: RTY-08, RTY-25
func TestScaledRetryRunsItsNewIndexes(t *testing.T) {
	for name, c := range map[string]struct {
		completions int32
		retried     string
		of          string
		stored      string
		want        string
	}{
		"all of 4, now 8":               {8, "0-3", "4", "0-3", "create 4; create 5; create 6; create 7"},
		"some of 4, now 8":              {8, "2", "4", "0,1,3", "create 2; create 4; create 5; create 6; create 7"},
		"some of 4, 2 meanwhile":        {4, "2", "4", "0,1", "create 2"},
		"some of 4, now 3":              {3, "2", "4", "0,1", "create 2"},
		"an earlier version's of 4":     {4, "2", "", "0,1,3", "create 2"},
		"an earlier version's, now 6":   {6, "2", "", "0,1,3", "create 2; create 4; create 5"},
		"an earlier version's of all":   {6, "0-3", "", "0-3", "create 4; create 5"},
		"completions beyond any number": {3, "2", "2147483647", "", "create 2"},
	} {
		o := observeJob(indexed(c.completions, c.completions), retries(c.retried, c.of), endedIndexes(c.stored, 0, ""))
		assert.Equal(t, planText(o.compute()), c.want, name)
	}
}

// The first status of a retry created by an earlier version lists the indexes it leaves out, even while it is
// suspended.
// Requirements: RTY-08
func TestFirstStatusOfAnEarlierRetry(t *testing.T) {
	untouched := stored(func(s *batchv1.JobStatus) { s.StartTime = nil })
	for _, suspended := range []bool{false, true} {
		plan := observeJob(indexed(4, 4), retries("2", ""), untouched, func(j *batchv1.Job) { j.Spec.Suspend = &suspended }).compute()
		if plan.Status == nil || plan.Status.CompletedIndexes != "0,1,3" || len(plan.Create) > 1 {
			t.Errorf("suspended %v: %s, status %v", suspended, planText(plan), plan.Status)
		}
	}
}

// If the number of completions cannot be read, no index runs.
// Requirements: RTY-08
func TestDamagedCompletionsRunNothing(t *testing.T) {
	for _, completions := range []string{"x", "-1", "2147483648"} {
		plan := observeJob(indexed(3, 3), retries("1", completions)).compute()
		want := fmt.Sprintf("batchjob.dev/retry-completions cannot be read: %q is no number of completions", completions)
		if got := planText(plan); got != "" || plan.Findings.BadRetryIndexes != want {
			t.Errorf("%s: %s, %q", completions, got, plan.Findings.BadRetryIndexes)
		}
	}
}
