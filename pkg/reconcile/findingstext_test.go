package reconcile

import (
	"reflect"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/successpolicy"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The log has a line for each finding, with its evidence.
func TestFindingsLines(t *testing.T) {
	p := &Pod{Name: "p"}
	failed := []FailedPod{{p, &failurepolicy.Match{Rule: 1, Action: batchv1.PodFailurePolicyActionCount, Container: "main", ExitCode: 3,
		Passed: []failurepolicy.Passed{{Rule: 0, Why: failurepolicy.NoCondition}}}}}
	verdict := " pod=p rule 1 Count (container main, exit code 3); rule 0 passed over: the pod has none of its conditions with the required status"
	// These are in the status, and in the Job.
	tried := map[string]bool{"CompletedIndexes": true, "FailedIndexes": true, "RuleNames": true}
	for _, c := range []struct {
		found Findings
		want  string
	}{
		{Findings{Violations: []rulename.Violation{{Rule: -1, Problem: "too long"}}}, "InvalidRuleNames too long"},
		{Findings{UnknownMode: "Weird"}, "UnknownMode Weird"},
		{Findings{BadRetryIndexes: "bad"}, "BadRetryIndexes bad"},
		{Findings{UnsupportedScheduling: "gang"}, "UnsupportedScheduling gang"},
		{Findings{RestartsNotPerIndex: true}, "RestartsNotPerIndex"},
		{Findings{DamagedIndexes: 2}, "DamagedIndexes 2"},
		{Findings{CountKept: &CountKept{Succeeded: 4, Completed: 3}}, "CountKept succeeded=4 completed=3"},
		{Findings{Verdicts: failed}, "Verdict" + verdict},
		{Findings{Unreported: []Unreported{{p, now.Add(time.Minute)}}}, "Unreported pod=p until=+60s"},
		{Findings{NotCounted: []NotCounted{{p, OutOfRange}}}, "NotCounted pod=p (its completion index is missing or out of range)"},
		{Findings{RecordedFailed: []FailedPod{{Pod: p}}}, "RecordedFailed pod=p"},
		{Findings{Unrecorded: 7}, "Unrecorded 7"},
		{Findings{IndexFailures: failed}, "IndexFailure" + verdict},
		{Findings{BackoffLimit: &BackoffLimit{Failures: 1, Limit: 6}}, "BackoffLimit failures=1 limit=6"},
		{Findings{Deadline: now.Add(-time.Second)}, "Deadline until=-1s"},
		{Findings{MaxFailedIndexes: &MaxFailedIndexes{Failed: 1, Limit: 2}}, "MaxFailedIndexes failed=1 limit=2"},
		{Findings{SuccessRules: []successpolicy.Progress{{Have: 1, Need: 1, Met: true}}}, "SuccessRule rule=0 have=1 need=1 met=true outOfReach=false"},
		{Findings{Outcome: &InterimCondition{batchv1.JobFailureTarget, "DeadlineExceeded", "too late"}}, "Outcome FailureTarget reason=DeadlineExceeded (too late)"},
		{Findings{WaitFinish: &WaitFinish{1, 2, 3, 4}}, "WaitFinish active=1 terminating=2 ended=3 uncounted=4"},
		{Findings{TooManySucceeded: &TooManySucceeded{Succeeded: 3, Completions: 2}}, "TooManySucceeded succeeded=3 completions=2"},
		{Findings{Excess: []*Pod{p}}, "Excess pod=p"},
		{Findings{Misfits: []*Pod{p}}, "Misfit pod=p"},
		{Findings{Untracked: []*Pod{p}}, "Untracked pod=p"},
		{Findings{Backoff: &Backoff{Failures: 2, Until: now.Add(20 * time.Second)}}, "Backoff failures=2 until=+20s"},
		{Findings{WaitTerminating: 3}, "WaitTerminating 3"},
		{Findings{AwaitReplacement: []AwaitsReplacement{{FailedPod{Pod: p}, 2, now.Add(20 * time.Second)}}}, "AwaitsReplacement pod=p failures=2 until=+20s"},
		{Findings{RetryHeld: true}, "RetryHeld"},
	} {
		assert.Equal(t, strings.Join(c.found.Lines(now), "\n"), c.want)
		for _, field := range reflect.VisibleFields(reflect.TypeFor[Findings]()) {
			if !reflect.ValueOf(c.found).FieldByIndex(field.Index).IsZero() {
				tried[field.Name] = true
			}
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Findings]()) {
		if !tried[field.Name] {
			t.Errorf("%s is not tried", field.Name)
		}
	}
}
