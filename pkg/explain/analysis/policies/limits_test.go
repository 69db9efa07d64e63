package policies_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// JOB-15, JOB-16: the next failure by backoffLimit is counted down in restarts if they reach it first, and the limit has
// the same numbers as the step.
func TestCountdownToTheBackoffLimit(t *testing.T) {
	const onFailure, never = corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever
	for name, c := range map[string]struct {
		policy                  corev1.RestartPolicy
		limit, failed, restarts int32
		want                    explain.BackoffLimit
		step                    string
	}{
		"one restart of two": {onFailure, 2, 0, 1, explain.BackoffLimit{Unit: explain.LimitRestarts, Used: 1, Limit: 2, Left: 1}, "the Job fails after 1 more restart (backoffLimit 2)"},
		"one of three":       {onFailure, 3, 0, 1, explain.BackoffLimit{Unit: explain.LimitRestarts, Used: 1, Limit: 3, Left: 2}, "the Job fails after 2 more restarts (backoffLimit 3)"},
		"failures nearer":    {onFailure, 3, 3, 1, explain.BackoffLimit{Unit: explain.LimitFailures, Used: 3, Limit: 3, Left: 1}, "the Job fails after 1 more failure (backoffLimit 3)"},
		"nothing yet":        {onFailure, 3, 0, 0, explain.BackoffLimit{Unit: explain.LimitRestarts, Limit: 3, Left: 3}, ""},
		"Never":              {never, 3, 1, 2, explain.BackoffLimit{Unit: explain.LimitFailures, Used: 1, Limit: 3, Left: 3}, "the Job fails after 3 more failures (backoffLimit 3)"},
	} {
		r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.Template.Spec.RestartPolicy, j.Spec.BackoffLimit = c.policy, &c.limit
			j.Status.Failed, j.Status.Active = c.failed, 1
		}), explaintest.PodOf("a", explaintest.RestartedPod(c.restarts, 1, 0))))
		if r.BackoffLimit == nil || *r.BackoffLimit != c.want {
			t.Errorf("%s: %+v", name, r.BackoffLimit)
		}
		step := ""
		for _, s := range r.Next {
			if s.Kind != explain.StepBackoffLimit {
				continue
			}
			if step = s.Text; s.Unit != c.want.Unit || s.Count != c.want.Left {
				t.Errorf("%s: %+v", name, s)
			}
		}
		assert.Equalf(t, step, c.step, "%s: step", name)
	}
}

// A finished Job shows the numbers of its status and of its remaining pods.
// Requirements: JOB-15, JOB-16
func TestBackoffLimitOfAnEndedJob(t *testing.T) {
	never := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.BackoffLimit, j.Status.Failed = ptr.To[int32](2), 3
		explaintest.FailJob(j, batchv1.JobReasonBackoffLimitExceeded, "")
	})
	for name, c := range map[string]struct {
		facts input.Input
		want  explain.BackoffLimit
	}{
		"failures":          {explaintest.InputOf(never), explain.BackoffLimit{Unit: explain.LimitFailures, Used: 3, Limit: 2}},
		"restarts":          {explaintest.InputOf(explaintest.RestartingJob(3, 1), explaintest.PodOf("a", explaintest.RestartedPod(3, 7, 10*time.Minute))), explain.BackoffLimit{Unit: explain.LimitRestarts, Used: 3, Limit: 3}},
		"the pods are gone": {explaintest.InputOf(explaintest.RestartingJob(3, 1)), explain.BackoffLimit{Unit: explain.LimitRestarts, Used: 3, Limit: 3}},
	} {
		if got := explaintest.Report(c.facts).BackoffLimit; got == nil || *got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := explaintest.Report(explaintest.InputOf(explaintest.IndexedJob(3, func(j *batchv1.Job) { j.Spec.BackoffLimit = ptr.To[int32](1<<31 - 1) }))).BackoffLimit; got != nil {
		t.Errorf("a limit for the whole Job: %+v", got)
	}
}
