package whatif_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// compared compares a recorded Job with the same Job under other policies.
func compared(t *testing.T, in input.Input, policies string) whatif.Comparison {
	t.Helper()
	h := whatif.Observe(in)
	p, err := whatif.ParsePolicies([]byte(policies))
	assert.NoError(t, err)
	c, err := h.Compare(t.Context(), p, 24*time.Hour)
	assert.NoError(t, err)
	return c
}

// The hypothetical outcome follows from the behavior of the pods.
func TestPolicyChangesWhatHappens(t *testing.T) {
	jobs := recordedJobs(t)
	for _, tc := range []struct {
		job, policies string
		outcome       string // type and reason
		pods, guessed int
		failedIndexes string
		first         string // kind of the first decision that differs: actual, new
	}{
		// It never reaches the second attempt, which failed.
		{"backoff-limit", "backoffLimit: 0", "Failed BackoffLimitExceeded", 1, 0, "", "PodCreated,JobCondition"},
		// Attempts that never happened behave like the last one.
		{"backoff-limit", "backoffLimit: 3", "Failed BackoffLimitExceeded", 4, 2, "", "JobCondition,PodCreated"},
		{
			"backoff-limit", "podFailurePolicy: {rules: [{action: FailJob, name: Fatal, onExitCodes: {operator: In, values: [1]}}]}",
			"Failed PodFailurePolicy_Fatal", 1, 0, "", "PodCreated,JobCondition",
		},
		{
			"backoff-limit.builtin", "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [1]}}]}",
			"Failed PodFailurePolicy", 1, 0, "", "PodCreated,JobCondition",
		},
		{"failed-indexes", "backoffLimitPerIndex: 0", "Failed FailedIndexes", 5, 0, "2", "PodCreated,IndexFailed"},
		{"failed-indexes", "successPolicy: {rules: [{succeededCount: 4}]}", "Complete SuccessPolicy", 5, 0, "", "PodCreated,JobCondition"},
		{"failed-indexes", "maxFailedIndexes: 0", "Failed MaxFailedIndexesExceeded", 6, 0, "2", "JobCondition,JobCondition"},
		// Without the rule, the index is retried, and behaves as before.
		{"failed-indexes-rule", "podFailurePolicy: null", "Failed FailedIndexes", 7, 3, "1", "JobCondition,PodCreated"},
		// How the evicted pod would have ended is unknown.
		{"ignored.builtin", "{podFailurePolicy: null, backoffLimit: 0}", "Failed BackoffLimitExceeded", 2, 1, "", "PodCreated,JobCondition"},
		// How long the pods would have run is unknown: they continue.
		{"deadline", "activeDeadlineSeconds: 60", "Failed DeadlineExceeded", 2, 2, "", "JobCondition,JobCondition"},
	} {
		c := compared(t, jobs[tc.job], tc.policies)
		last := c.New.Outcome
		got := last.Type + " " + last.Reason
		first := ""
		if d := c.FirstDifference; d != nil {
			for i, decision := range []*whatif.Decision{d.Actual, d.New} {
				if decision != nil {
					first += []string{"", ","}[i] + string(decision.Kind)
				}
			}
		}
		if got != tc.outcome || c.New.PodsStarted != tc.pods || c.New.PodsEstimated != tc.guessed || c.New.FailedIndexes != tc.failedIndexes || first != tc.first {
			t.Errorf("%s with %s: %s, %d pods, %d estimated, failed indexes %q, first %q\n%+v", tc.job, tc.policies, got, c.New.PodsStarted,
				c.New.PodsEstimated, c.New.FailedIndexes, first, tc)
		}
		if len(c.NotReproduced) > 0 || c.New.PodSecondsWasted > c.New.PodSeconds {
			t.Errorf("%s: %+v", tc.job, c)
		}
	}
}

// A pod that a controller stopped continues like most others, which is an estimate.
func TestStoppedPodContinuesLikeOthers(t *testing.T) {
	c := compared(t, recordedJobs(t)["success-policy"], "successPolicy: null")
	if got := c.New.Outcome; got.Type != "Complete" || got.Reason != "CompletionsReached" || c.New.Succeeded != 4 || c.New.PodsEstimated != 3 {
		t.Errorf("%+v, %+v", got, c.New)
	}
}

// Invalid policies are refused with an explanation.
func TestPoliciesThatCannotBe(t *testing.T) {
	h := whatif.Observe(recordedJobs(t)["backoff-limit"])
	for policies, want := range map[string]string{
		"parallelism: 3":              "cannot change parallelism, only activeDeadlineSeconds",
		"{}":                          "there is no policy in it",
		"kind: CronJob":               "kind CronJob is not Job",
		"[1]":                         "cannot unmarshal",
		"backoffLimit: many":          "cannot unmarshal",
		"podFailurePolicy: {rule: 1}": "unknown field",
		"podFailurePolicy: {rules: [{action: Count, name: a b}]}": "podFailurePolicy.rules[0].name",
		"maxFailedIndexes: 1":                           "spec.maxFailedIndexes: Invalid value",
		"successPolicy: {rules: [{succeededCount: 1}]}": "needs an Indexed Job",
	} {
		p, err := whatif.ParsePolicies([]byte(policies))
		var job *batchv1.Job
		if err == nil {
			job, err = p.Apply(h.Job)
		}
		if err == nil {
			_, err = h.Replay(t.Context(), job, time.Hour)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", policies, err, want)
		}
	}
}

// A whole Job changes all policies; some fields change only themselves. Defaults follow from the policies.
func TestPoliciesOfAManifest(t *testing.T) {
	h := whatif.Observe(recordedJobs(t)["failed-indexes-rule"])
	for policies, want := range map[string][]string{
		"spec: {backoffLimitPerIndex: 1}":                                     {"backoffLimitPerIndex"},
		"kind: Job\nspec: {completions: 9}":                                   {"backoffLimit", "backoffLimitPerIndex", "podFailurePolicy", "podReplacementPolicy"},
		"{backoffLimitPerIndex: null, podFailurePolicy: null}":                {"backoffLimit", "backoffLimitPerIndex", "podFailurePolicy"},
		"{podFailurePolicy: null, podReplacementPolicy: TerminatingOrFailed}": {"podFailurePolicy", "podReplacementPolicy"},
	} {
		p, err := whatif.ParsePolicies([]byte(policies))
		assert.NoError(t, err)
		job, err := p.Apply(h.Job)
		assert.NoError(t, err)
		var got []string
		for _, c := range whatif.Changes(h.Job, job) {
			got = append(got, c.Field)
		}
		assert.SlicesEqual(t, got, want, policies)
	}
}
