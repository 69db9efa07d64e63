package reconcile

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func restartPolicy(policy corev1.RestartPolicy) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = policy }
}

func restarted(n int32) func(*Pod) { return func(p *Pod) { p.Restarts = n } }

// JOB-15, JOB-16: with OnFailure, the restarts of containers in running and pending pods are compared with the limit in
// addition to the failed pods; they fail the Job when they reach the limit.
func TestRestartsReachTheLimit(t *testing.T) {
	onFailure := restartPolicy(corev1.RestartPolicyOnFailure)
	pending, unknown, succeeded := inPhase(corev1.PodPending), inPhase(corev1.PodUnknown), succeededPod(0)
	for name, test := range map[string]struct {
		limit int32
		o     *observed
		fails bool
	}{
		"limit 0, no restart":           {0, observeJob(onFailure).with("p", restarted(0)), false},
		"limit 0, one restart":          {0, observeJob(onFailure).with("p", restarted(1)), true},
		"limit 1, no restart":           {1, observeJob(onFailure).with("p", restarted(0)), false},
		"limit 1, one restart":          {1, observeJob(onFailure).with("p", restarted(1)), true},
		"limit 2, one restart":          {2, observeJob(onFailure).with("p", restarted(1)), false},
		"limit 2, one in each of two":   {2, observeJob(onFailure, sized(2, 2)).with("p", restarted(1)).with("q", restarted(1)), true},
		"limit 3, one in each of two":   {3, observeJob(onFailure, sized(2, 2)).with("p", restarted(1)).with("q", restarted(1)), false},
		"pending pods count":            {2, observeJob(onFailure, sized(2, 2)).with("p", restarted(1), pending).with("q", restarted(1), pending), true},
		"terminating pods count":        {2, observeJob(onFailure, replacing(batchv1.Failed)).with("p", restarted(2), deletedPod(0)), true},
		"pods without finalizer count":  {2, observeJob(onFailure).with("p", restarted(2), untracked), true},
		"those of unknown phase do not": {2, observeJob(onFailure).with("p", restarted(2), unknown), false},
		"those that succeeded do not":   {2, observeJob(onFailure, sized(2, 2)).with("p", restarted(9), succeeded), false},
		"those that failed do not":      {2, observeJob(onFailure, sized(2, 2)).with("p", restarted(9), failedPod(1, time.Hour)), false},
		"failed pods do not add up":     {2, observeJob(onFailure, sized(2, 2), counters(0, 1)).with("p", restarted(1)), false},
		"failed pods count by number":   {2, observeJob(onFailure, sized(2, 2), counters(0, 2)).with("f", failedPod(1, time.Hour)).with("p"), true},
		"failed pods at the limit":      {2, observeJob(onFailure, sized(2, 2), counters(0, 2)).with("p"), false},
		"Never: restarts do not count":  {0, observeJob(restartPolicy(corev1.RestartPolicyNever)).with("p", restarted(9)), false},
		"Never: over the limit":         {0, observeJob().with("f", failedPod(1, time.Hour)), true},
		"Never: at the limit":           {1, observeJob().with("f", failedPod(1, time.Hour)), false},
	} {
		test.o.Job.Spec.BackoffLimit = &test.limit
		conditionType, reason, message := fateOf(test.o.compute())
		assert.Equal(t, conditionType == "FailureTarget", test.fails, name, conditionType, reason)
		if test.fails && (reason != "BackoffLimitExceeded" || !strings.HasPrefix(message, messageBackoffLimit)) {
			t.Errorf("%s: %s, %s", name, reason, message)
		}
	}
	// The finding contains them too.
	plan := observeJob(onFailure, sized(2, 2), counters(0, 2), backoffLimit(5)).with("p", restarted(3)).compute()
	assert.Equal(t, *plan.Findings.BackoffLimit, BackoffLimit{Failures: 2, Limit: 5, OnFailure: true, Restarts: 3}, "OnFailure")
	assert.Equal(t, plan.Findings.BackoffLimit.FailuresLeft(), 4, "failures left")
	assert.Equal(t, plan.Findings.BackoffLimit.RestartsLeft(), 2, "restarts left")
	// Never does not restart containers, and the finding has no restarts.
	plan = observeJob(backoffLimit(5)).with("p", restarted(3)).compute()
	assert.Equal(t, *plan.Findings.BackoffLimit, BackoffLimit{Failures: 0, Limit: 5}, "Never")
}
