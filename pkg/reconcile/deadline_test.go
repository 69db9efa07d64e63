package reconcile

import (
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// startedAgo sets the stored startTime.
func startedAgo(ago time.Duration) func(*batchv1.Job) {
	return stored(func(s *batchv1.JobStatus) {
		at := metav1.NewTime(now.Add(-ago))
		s.StartTime = &at
	})
}

// JOB-23 (D-35): the deadline is counted from startTime, whether or not a pod exists, but not while the Job is
// suspended; a plan requests the next decision at exactly that time.
func TestDeadlineRunsFromStartTime(t *testing.T) {
	for name, test := range map[string]struct {
		options []func(*batchv1.Job)
		past    bool
		again   time.Duration
	}{
		"not yet":                    {[]func(*batchv1.Job){deadline(60), startedAgo(59 * time.Second)}, false, time.Second},
		"now":                        {[]func(*batchv1.Job){deadline(60), startedAgo(time.Minute)}, true, 0},
		"long ago":                   {[]func(*batchv1.Job){deadline(60), startedAgo(time.Hour)}, true, 0},
		"begins now":                 {[]func(*batchv1.Job){deadline(60), noStart}, false, time.Minute},
		"zero":                       {[]func(*batchv1.Job){deadline(0), noStart}, true, 0},
		"none":                       {[]func(*batchv1.Job){startedAgo(1000 * time.Hour)}, false, 0},
		"beyond what a duration is":  {[]func(*batchv1.Job){deadline(math.MaxInt64), startedAgo(time.Hour)}, false, math.MaxInt64/time.Second*time.Second - time.Hour},
		"suspended":                  {[]func(*batchv1.Job){deadline(60), suspend, noStart, suspended(corev1.ConditionTrue)}, false, 0},
		"suspended, not written yet": {[]func(*batchv1.Job){deadline(60), suspend, startedAgo(time.Hour)}, false, 0},
		"created suspended":          {[]func(*batchv1.Job){deadline(60), suspend, noStart}, false, 0},
		"suspended, zero":            {[]func(*batchv1.Job){deadline(0), suspend, noStart}, false, 0},
		"resumed":                    {[]func(*batchv1.Job){deadline(60), noStart, suspended(corev1.ConditionTrue)}, false, time.Minute},
		"resumed, startTime is old":  {[]func(*batchv1.Job){deadline(60), startedAgo(time.Hour), suspended(corev1.ConditionTrue)}, false, time.Minute},
		"was resumed":                {[]func(*batchv1.Job){deadline(60), startedAgo(time.Minute), suspended(corev1.ConditionFalse)}, true, 0},
		"resumed, being deleted":     {[]func(*batchv1.Job){deadline(60), startedAgo(time.Minute), suspended(corev1.ConditionTrue), beingDeleted}, true, 0},
		"is being deleted":           {[]func(*batchv1.Job){deadline(60), startedAgo(time.Hour), beingDeleted}, true, 0},
	} {
		o := observeJob(append(test.options, sized(1, 0))...)
		plan := o.compute()
		conditionType, reason, message := fateOf(plan)
		if (conditionType == "FailureTarget") != test.past || plan.RequeueAfter != test.again {
			t.Errorf("%s: %s %s, again after %v, want %v", name, conditionType, reason, plan.RequeueAfter, test.again)
		}
		if test.past && (reason != "DeadlineExceeded" || message != "Job was active longer than specified deadline" || plan.Status.StartTime == nil) {
			t.Errorf("%s: %s, %s, startTime %v", name, reason, message, plan.Status.StartTime)
		}
	}
	// A pod that has not started has no effect; neither has a longer wait.
	observeJob(deadline(60), startedAgo(time.Minute)).with("p", inPhase(corev1.PodPending)).
		want(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" uncounted [] [p] FailureTarget=True/DeadlineExceeded`)
	observeJob(deadline(60), startedAgo(55*time.Second), counters(0, 1)).with("f", failedPod(1, time.Second), untracked).
		want(t, "after 5s")
}
