package words_test

import (
	"testing"
	"time"
	"unicode/utf8"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CLI-30. A list says in 30 characters why a Job fails.
func TestWhyFitsItsColumn(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	exit := func(code, count int32, message string) explain.Cause {
		return explain.Cause{Ended: explain.Ended{Container: "main", ExitCode: &code, Message: message}, Count: count}
	}
	oom := exit(137, 2, "")
	oom.Reason = "OOMKilled"
	byRule := exit(42, 1, "")
	byRule.Rule, byRule.RuleName = ptr.To[int32](0), "BadInput"
	unnamed := exit(42, 1, "")
	unnamed.Rule = ptr.To[int32](1)
	ended := func(e meaning.Ending) explain.Cause {
		return explain.Cause{Count: 1, Ended: explain.Ended{Ending: &e, Message: "long"}}
	}
	failed := func(by explain.EndedBy, causes ...explain.Cause) explain.Outline {
		o := explain.Outline{Outcome: reconcile.OutcomeFailed, EndedBy: by, Reason: "Future"}
		if len(causes) > 0 {
			o.Why = &explain.Why{Causes: causes}
		}
		return o
	}
	backoff := failed("", exit(1, 3, "no route"))
	backoff.Why.RetryAt = explain.TimeOf(now.Add(40 * time.Second))
	partial := failed("", exit(1, 3, ""))
	partial.Why.Partial = true
	indexes := failed(explain.EndedByFailedIndexes)
	indexes.FailedIndexCount = 3
	rule := failed(explain.EndedByRule)
	rule.Rule = ptr.To[int32](2)
	for want, o := range map[string]explain.Outline{
		"OOMKilled ×2":                   failed(explain.EndedByBackoffLimit, oom),
		"OOMKilled ×2, exit 3 ×5":        failed("", oom, exit(3, 5, "")),
		"exit 1: learning rate must be…": failed("", exit(1, 1, "Traceback\nValueError: learning rate must be positive\n")),
		"exit 1 ×3, retry in 40s":        backoff,
		"exit 1":                         partial,
		"rule BadInput: exit 42":         failed(explain.EndedByRule, byRule),
		"rule 1: exit 42":                failed(explain.EndedByRule, unnamed),
		"liveness probe failed":          failed("", ended(meaning.Ending{Kind: meaning.EndProbe, Probe: "liveness"})),
		"rejected: OutOfcpu":             failed("", ended(meaning.Ending{Kind: meaning.EndRejected, Reason: "OutOfcpu"})),
		"evicted":                        failed("", ended(meaning.Ending{Kind: meaning.EndEvicted})),
		"deadline exceeded":              failed(explain.EndedByDeadline, oom),
		"backoffLimit exceeded":          failed(explain.EndedByBackoffLimit),
		"3 indexes failed":               indexes,
		"Future":                         failed(explain.EndedByOther),
		"rule 2":                         rule,
		"no controller":                  {Neglected: true},
		"ImagePullBackOff":               {Stalled: &explain.Stall{Kind: explain.ProblemImagePull, Reason: "ImagePullBackOff"}},
		"no node can take the pod":       {Stalled: &explain.Stall{Kind: explain.ProblemUnschedulable, Reason: "Unschedulable"}},
		"FailedCreate: ResourceQuota…":   {Stalled: &explain.Stall{Kind: explain.ProblemCreationRefused, Reason: "FailedCreate: ResourceQuota budget is exhausted"}},
		"":                               {Outcome: reconcile.OutcomeComplete},
	} {
		got := words.Why(&o, now, words.WhyWidth)
		if got != want || utf8.RuneCountInString(got) > words.WhyWidth {
			t.Errorf("%q, want %q", got, want)
		}
	}
	assert.Equal(t, words.Why(&backoff, time.Time{}, words.WhyWidth), "exit 1 ×3: no route", "without a time")
}
