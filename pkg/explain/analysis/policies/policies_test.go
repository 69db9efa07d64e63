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

// SUC: progress of each rule, and rules that can no longer be met, or never could.
// Requirements: CLI-04
func TestProgressOfSuccessRulesIsShown(t *testing.T) {
	job := func(rules ...batchv1.SuccessPolicyRule) *batchv1.Job {
		return explaintest.IndexedJob(10, func(j *batchv1.Job) {
			j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules}
			j.Status.CompletedIndexes, j.Status.Succeeded, j.Status.FailedIndexes, j.Status.Active = "1-3", 3, ptr.To("0,9"), 2
		})
	}
	rule := func(indexes string, count int32) batchv1.SuccessPolicyRule {
		r := batchv1.SuccessPolicyRule{}
		if indexes != "-" {
			r.SucceededIndexes = &indexes
		}
		if count > 0 {
			r.SucceededCount = &count
		}
		return r
	}
	for _, tc := range []struct {
		rule            batchv1.SuccessPolicyRule
		have, need      int32
		met, impossible bool
		text            string
	}{
		{rule("1-9", 5), 3, 5, false, false, "3 of 5 (indexes 1-9)"},
		{rule("4", 0), 0, 1, false, false, "0 of 1 (index 4)"},
		{rule("-", 4), 3, 4, false, false, "3 of 4 (any indexes)"},
		{rule("0", 0), 0, 1, false, true, "0 of 1 (index 0)"},
		{rule("0,4,9", 2), 0, 2, false, true, "0 of 2 (indexes 0,4,9)"},
		{rule("-", 9), 3, 9, false, true, "3 of 9 (any indexes)"},
		{rule("-", 8), 3, 8, false, false, "3 of 8 (any indexes)"},
	} {
		r := explaintest.Report(explaintest.InputOf(job(tc.rule)))
		got := r.SuccessPolicy.Rules[0]
		if got.Have != tc.have || got.Need != tc.need || got.Met != tc.met || got.Impossible != tc.impossible || got.Text != tc.text {
			t.Errorf("%+v, want %+v", got, tc)
		}
		assert.Equalf(t, explaintest.HasProblem(r, explain.ProblemSuccessImpossible), tc.impossible, "%s: %+v", tc.text, r.Problems)
	}
	if r := explaintest.Report(explaintest.InputOf(job(rule("0", 0), rule("4", 0)))); explaintest.HasProblem(r, explain.ProblemSuccessImpossible) {
		t.Error("one of two rules can be met")
	}
}

// Only pods show which rules matched: without them, the counts are unknown, and not 0.
// Requirements: CLI-04
func TestUnreadPodsLeaveMatchesUnknown(t *testing.T) {
	job := explaintest.IndexedJob(5, func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy, j.Spec.BackoffLimitPerIndex = explaintest.Rules(2), ptr.To[int32](2)
	})
	facts := explaintest.InputOf(job)
	if p := explaintest.Report(facts).FailurePolicy; p.Unmatched == nil || p.Rules[0].Matched == nil || p.Rules[1].Matched == nil {
		t.Errorf("no counts with pods: %+v", p)
	}
	job.Status.Failed = 3
	if p := explaintest.Report(facts).FailurePolicy; p.Unmatched != nil || p.Rules[0].Matched != nil || p.Rules[1].Matched != nil {
		t.Errorf("counts of pods that are gone: %+v", p)
	}
	facts.PodsRead = false
	if p := explaintest.Report(facts).FailurePolicy; p.Unmatched != nil || p.Rules[0].Matched != nil || p.Rules[1].Matched != nil {
		t.Errorf("counts without pods: %+v", p)
	}
}

// PFP-03: a rule never matches exit code 0, whatever it lists.
func TestExitCodeZeroIsNeverListed(t *testing.T) {
	policy := explaintest.Rules(1)
	policy.Rules[0].OnExitCodes.Operator, policy.Rules[0].OnExitCodes.Values = batchv1.PodFailurePolicyOnExitCodesOpNotIn, []int32{0, 42}
	r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Spec.PodFailurePolicy = policy })))
	assert.Equal(t, r.FailurePolicy.Rules[0].Requirement, "any container exits with a code other than 0 and 42")
}

// CLI-06: clocks: the deadline and the TTL, and neither after it has stopped to apply.
func TestClocksStopWhenTheyDoNotCount(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*batchv1.Job)
		kind   explain.WaitKind
		until  time.Duration // from noon; 0 for no clock
	}{
		"deadline":            {func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](3700) }, explain.WaitDeadline, 100 * time.Second},
		"deadline, suspended": {func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds, j.Spec.Suspend = ptr.To[int64](3700), ptr.To(true) }, explain.WaitDeadline, 0},
		"deadline, decided": {func(j *batchv1.Job) {
			j.Spec.ActiveDeadlineSeconds = ptr.To[int64](3700)
			explaintest.AddCondition(j, batchv1.JobFailureTarget, "X", "", 0)
		}, explain.WaitDeadline, 0},
		"TTL of a failed Job": {func(j *batchv1.Job) {
			j.Spec.TTLSecondsAfterFinished = ptr.To[int32](600)
			explaintest.FailJob(j, "X", "")
		}, explain.WaitTTL, time.Minute},
		"TTL of a complete Job": {func(j *batchv1.Job) {
			j.Spec.TTLSecondsAfterFinished, j.Status.CompletionTime = ptr.To[int32](600), ptr.To(explaintest.Ago(8*time.Minute))
			explaintest.AddCondition(j, batchv1.JobComplete, "CompletionsReached", "", 8*time.Minute)
		}, explain.WaitTTL, 2 * time.Minute},
		"TTL that is over": {func(j *batchv1.Job) {
			j.Spec.TTLSecondsAfterFinished = ptr.To[int32](60)
			explaintest.FailJob(j, "X", "")
		}, explain.WaitTTL, 0},
		"TTL of a running Job": {func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](600) }, explain.WaitTTL, 0},
		"TTL of a deleted one": {func(j *batchv1.Job) {
			j.Spec.TTLSecondsAfterFinished = ptr.To[int32](600)
			explaintest.FailJob(j, "X", "")
			j.DeletionTimestamp = ptr.To(explaintest.Ago(0))
		}, explain.WaitTTL, 0},
	} {
		r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(tc.change)))
		var found time.Duration
		for _, w := range r.Waits {
			if w.Kind == tc.kind {
				found = w.Until.Sub(explaintest.Noon)
			}
		}
		assert.Equal(t, found, tc.until, name, r.Waits)
	}
}
