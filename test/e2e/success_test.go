package e2e

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// The conformance tests of Kubernetes for successPolicy: what is pending, or fails,
// when a rule is met does not matter.
func TestConformanceCasesOfSuccessPoliciesPass_SUC_24(t *testing.T) {
	t.Parallel()
	rule := func(indexes *string, count *int32) func(*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) {
			s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: indexes, SucceededCount: count}}}
		}
	}
	quick := map[string]string{"run-time": "500ms"}
	// Index 0 of two at a time succeeds, index 1 has failed before or continues.
	failing := map[string]string{"run-time": "500ms", "exit-code.1": "1", "run-time.0": "1h"}
	slow := map[string]string{"run-time": "500ms", "run-time.0": "1h"}
	for what, c := range map[string]struct {
		job  *batchv1.Job
		want ending
	}{
		"all succeed":                       {indexedJob(2, 2, quick, rule(nil, ptr.To[int32](2))), complete(met, "Matched rules at index 0", 2, 0, "0,1", 2)},
		"an index, another runs":            {indexedJob(2, 2, slow, rule(ptr.To("1"), nil)), complete(met, "Matched rules at index 0", 1, 0, "1", 2)},
		"an index, others pending":          {indexedJob(5, 2, failing, rule(ptr.To("0"), nil)), complete(met, "Matched rules at index 0", 1, 1, "0", 2)},
		"a count, others pending":           {indexedJob(5, 2, failing, rule(nil, ptr.To[int32](1))), complete(met, "Matched rules at index 0", 1, 1, "0", 2)},
		"no rule is met, and all succeeded": {indexedJob(2, 2, quick, rule(ptr.To(""), nil)), complete(reached, completionsReached, 2, 0, "0,1", 2)},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			createTogether(t, ns, c.job)
			if c.want.failed > 0 {
				untilPods(t, ns, "job", int(c.want.failed), "failed", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
				endTogether(t, ns, "job", 1, map[string]string{runTimeKey + ".0": "500ms"})
			}
			untilEnd(t, ns, "job", c.want)
		})
	}
}

// A Job whose pods never end is over at its deadline (JOB-61).
func TestDeadlineEndsPodsThatNeverEnd_JOB_61(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, indexedJob(2, 2, map[string]string{"run-time": "1h"}, nil))
	untilRunning(t, ns, "job", 2)
	started := untilJob(t, ns, "job", "a start time", func(j *batchv1.Job) bool { return j.Status.StartTime != nil }).Status.StartTime
	deadline := time.Since(started.Time) + 5*time.Second
	patchJob(t, ns, "job", fmt.Sprintf(`{"spec":{"activeDeadlineSeconds":%.0f}}`, deadline.Seconds()))
	untilEnd(t, ns, "job", failure(batchv1.JobReasonDeadlineExceeded, deadlineExceeded, 0, 2, "", 2))
}

// backoffLimit 1 and pods that always fail (JOB-60): two pods, and all of the status.
func TestSecondFailureExceedsTheBackoffLimit_JOB_60(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, "over-backoff-limit.yaml")
	untilEnd(t, ns, "over-backoff-limit", failure(batchv1.JobReasonBackoffLimitExceeded, backoffLimitReached, 0, 2, "", 2))
}

// restartPolicy OnFailure: each container fails once, is restarted in its pod, and
// nothing counts as failed (JOB-59).
func TestLocalRestartsDoNotCountAsFailed_JOB_59(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, indexedJob(3, 2, map[string]string{"run-time": "500ms", "exit-code.x.1": "1"}, func(s *batchv1.JobSpec) {
		s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	}))
	untilEnd(t, ns, "job", complete(reached, completionsReached, 3, 0, "0-2", 3))
	for _, pod := range past.pods(ns, "job") {
		if n := pod.Status.ContainerStatuses[0].RestartCount; n != 1 {
			t.Errorf("the container of %s was restarted %d times", pod.Name, n)
		}
	}
}
