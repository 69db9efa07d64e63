package reconcile

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// workQueue has no completions: its pods decide among themselves when the work is done.
func workQueue(parallelism int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.Completions, j.Spec.Parallelism = nil, &parallelism }
}

func activePods(n int32) func(*batchv1.Job) {
	return stored(func(s *batchv1.JobStatus) { s.Active = n })
}

// JOB-03: parallelism pods run until the first success; from then on, existing pods continue, whatever parallelism is,
// and failed pods are not replaced.
func TestWorkQueueCreatesNoPodAfterASuccess(t *testing.T) {
	for name, test := range map[string]struct {
		o    *observed
		want string
	}{
		"begins":                      {observeJob(workQueue(3)), "create; create; create"},
		"one is missing":              {observeJob(workQueue(3)).with("a").with("b"), "create"},
		"more parallelism":            {observeJob(workQueue(3)).with("a"), "create; create"},
		"less parallelism":            {observeJob(workQueue(1)).with("a").with("b"), "release b"},
		"one failed":                  {observeJob(workQueue(2), counters(0, 1), activePods(1)).with("a"), "create"},
		"after a success":             {observeJob(workQueue(3), counters(1, 0), activePods(2)).with("a").with("b"), ""},
		"after a success, one failed": {observeJob(workQueue(3), counters(1, 1), activePods(1)).with("a"), ""},
		"more parallelism after it":   {observeJob(workQueue(9), counters(1, 0), activePods(2)).with("a").with("b"), ""},
		"less parallelism after it":   {observeJob(workQueue(1), counters(1, 0), activePods(2)).with("a").with("b"), ""},
		"none at all after it":        {observeJob(workQueue(0), counters(1, 0), activePods(2)).with("a").with("b"), ""},
		"the success is new": {observeJob(workQueue(3), activePods(3)).with("a").with("b").with("s", succeededPod(time.Minute)),
			`status active 2 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [s] []`},
		"all ended, none well": {observeJob(workQueue(2), counters(0, 2)), "create; create"},
	} {
		t.Run(name, func(t *testing.T) { test.o.want(t, test.want) })
	}
	// The last pod that ends completes the Job, whatever its result; not an earlier pod.
	for _, phase := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed} {
		o := observeJob(workQueue(2), counters(1, 0), activePods(1)).with("a")
		o.want(t, "")
		ended(o.pod(t, "a"), phase)
		o.settle(t)
		if s := o.Job.Status; !IsFinished(o.Job) || TrueCondition(o.Job, batchv1.JobComplete) == nil || s.Succeeded+s.Failed != 2 {
			t.Errorf("%s: %s", phase, statusText(&s))
		}
	}
}

// JOB-04 (D-36): a success does not lift the limits: the Job fails by backoffLimit, by its deadline, or by a rule, as
// long as a pod runs.
func TestWorkQueueFailsAfterASuccess(t *testing.T) {
	for want, o := range map[string]*observed{
		"BackoffLimitExceeded": observeJob(workQueue(3), backoffLimit(0), counters(1, 0)).with("a").with("f", failedPod(1, time.Hour)),
		"DeadlineExceeded":     observeJob(workQueue(3), deadline(60), counters(1, 0)).with("a"),
		"PodFailurePolicy_0":   observeJob(workQueue(3), failurePolicy(onExit("FailJob", 42)), counters(1, 0)).with("a").with("f", failedPod(42, time.Hour)),
	} {
		if conditionType, reason, _ := fateOf(o.compute()); conditionType != "FailureTarget" || reason != want {
			t.Errorf("%s: %s %s", want, conditionType, reason)
		}
		o.settle(t)
		if s := o.Job.Status; s.Succeeded != 1 || *s.Terminating != 1 || TrueCondition(o.Job, failureTarget) == nil {
			t.Errorf("%s: %s", want, statusText(&s))
		}
	}
	// Also in the same sync as the success.
	o := observeJob(workQueue(2), backoffLimit(0)).with("s", succeededPod(time.Minute)).with("f", failedPod(1, time.Hour))
	if _, reason, _ := fateOf(o.compute()); reason != "BackoffLimitExceeded" {
		t.Errorf("reason %q", reason)
	}
}

// JOB-65: a work queue suspended after a success loses its running pods, and is complete instead of suspended; without
// a success it is suspended.
func TestSuspendedWorkQueueCompletes(t *testing.T) {
	o := observeJob(workQueue(3), suspend, counters(1, 0), activePods(2)).with("a").with("b")
	o.wantStages(t, "release a b", "delete a b",
		`status active 0 terminating 2 succeeded 1 failed 0 completedIndexes "" SuccessCriteriaMet=True/CompletionsReached`)
	o.Pods = nil
	o.wantStages(t, `status active 0 terminating 0 succeeded 1 failed 0 completedIndexes "" SuccessCriteriaMet=True/CompletionsReached Complete=True/CompletionsReached`)
	if start := o.Job.Status.StartTime; start == nil || !start.Time.Equal(begun) {
		t.Errorf("startTime %v", start)
	}
	o = observeJob(workQueue(3), suspend, counters(0, 1), activePods(1)).with("a")
	o.wantStages(t, "release a", "delete a",
		`status active 0 terminating 1 succeeded 0 failed 1 completedIndexes "" Suspended=True/JobSuspended`)
}
