package policies_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

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
