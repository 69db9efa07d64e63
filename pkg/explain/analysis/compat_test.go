package analysis_test

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// older removes fields that an older API server or Job controller does not set. Each can be missing on its own, because
// feature gates can be off.
var older = map[string]func(*batchv1.Job){
	"terminating": func(j *batchv1.Job) { j.Status.Terminating = nil },
	"ready":       func(j *batchv1.Job) { j.Status.Ready = nil },
	"uncounted":   func(j *batchv1.Job) { j.Status.UncountedTerminatedPods = nil },
	"replacement": func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = nil },
	// Before 1.31 a Job that failed, or succeeded, had only the terminal condition.
	"interim conditions": func(j *batchv1.Job) {
		terminal := slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobFailed || c.Type == batchv1.JobComplete
		})
		j.Status.Conditions = slices.DeleteFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
			return terminal && (c.Type == batchv1.JobFailureTarget || c.Type == batchv1.JobSuccessCriteriaMet)
		})
	},
	// Before 1.31 a complete Job had no reason in its condition.
	"reason of success": func(j *batchv1.Job) {
		for i := range j.Status.Conditions {
			if j.Status.Conditions[i].Type == batchv1.JobComplete {
				j.Status.Conditions[i].Reason, j.Status.Conditions[i].Message = "", ""
			}
		}
	},
}

// Issue 7, point 7: the outcome of a recorded Job is explained in the same way without fields that older releases do not have.
func TestMissingFieldsChangeNoExplanation(t *testing.T) {
	ends := 0
	for _, c := range cases(t) {
		for _, facts := range c.Inputs {
			want := explaintest.Report(facts).Verdict
			if want.Outcome != reconcile.OutcomeFailed && want.Outcome != reconcile.OutcomeComplete {
				continue
			}
			ends++
			all := facts
			all.Job = facts.Job.DeepCopy()
			for what, drop := range older {
				one := facts
				one.Job = facts.Job.DeepCopy()
				drop(one.Job)
				drop(all.Job)
				wantVerdict(t, c.Name+" without "+what, explaintest.Report(one).Verdict, want)
			}
			wantVerdict(t, c.Name+" without all of it", explaintest.Report(all).Verdict, want)
		}
	}
	if ends < 20 {
		t.Errorf("only %d recorded Jobs have ended", ends)
	}
}

func wantVerdict(t *testing.T, what string, got, want explain.Verdict) {
	t.Helper()
	if want.Outcome == reconcile.OutcomeComplete && got.Reason == "" {
		want.Reason, want.Message, want.Sentence = got.Reason, got.Message, got.Sentence
	}
	if got.Status != want.Status || got.Outcome != want.Outcome || got.Reason != want.Reason || !ptr.Equal(got.Rule, want.Rule) || got.RuleName != want.RuleName || got.Sentence != want.Sentence {
		t.Errorf("%s:\n%+v, want\n%+v", what, got, want)
	}
}
