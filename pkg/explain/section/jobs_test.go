package section

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A suspended Job has no start time, whether or not it ran before.
func TestSuspendedJobThatRanWasStarted(t *testing.T) {
	for _, c := range []struct {
		report explain.Report
		want   string
	}{
		{explain.Report{}, "not started"},
		{explain.Report{Job: explain.Job{Suspend: true}}, "not started"},
		{explain.Report{Job: explain.Job{Suspend: true}, Counts: explain.Counts{Succeeded: 11, Failed: 3}}, "stopped when it was suspended"},
		{explain.Report{Job: explain.Job{Suspend: true}, Counts: explain.Counts{Failed: 1}}, "stopped when it was suspended"},
	} {
		assert.Equal(t, NotStarted(&c.report), c.want, c.report.Counts)
	}
}

func TestJobLine(t *testing.T) {
	n := func(i int32) *int32 { return &i }
	failed, list := "1,3-5,7-9,11-13,15-17,19", "4"
	for want, o := range map[string]explain.Outline{
		"Running, 0/1 done": {Status: "Running"},
		"Running, 3/10 done, 12 active (7 ready), 2 pods failed, failed indexes 4": {Status: "Running", Completions: n(10), Succeeded: 3, Active: 12, Ready: n(7), Failed: 2, FailedIndexes: &list},
		"Running, 2 done, work queue of 5, 5 active":                               {Status: "Running", Parallelism: n(5), Succeeded: 2, Active: 5},
		"Running, 1/2 done":                                                                              {Status: "Running", Completions: n(10), Succeeded: 9, Retry: &explain.RetryOf{Rerun: 2, Completed: 1}},
		"Running, 0/5 done, no controller nobody":                                                        {Status: "Running", Completions: n(5), Neglected: true, ManagedBy: "nobody"},
		"Running, 0/5 done, 2 terminating":                                                               {Status: "Running", Completions: n(5), Terminating: n(2)},
		"Stalled, 0/5 done, 1 active, 1 terminating, reason ImagePullBackOff":                            {Status: "Running", Completions: n(5), Active: 1, Terminating: n(1), Stalled: &explain.Stall{Reason: "ImagePullBackOff"}},
		"Succeeding, 0/5 done, stopping 1 pod":                                                           {Status: "SuccessCriteriaMet", Outcome: reconcile.OutcomeSucceeding, Completions: n(5), Terminating: n(1)},
		"Failing, 0/5 done, stopping the rest, reason DeadlineExceeded":                                  {Status: "FailureTarget", Outcome: reconcile.OutcomeFailing, Completions: n(5), Reason: "DeadlineExceeded"},
		"Failing, 0/5 done, about to finish":                                                             {Status: "FailureTarget", Outcome: reconcile.OutcomeFailing, Completions: n(5), Terminating: n(0)},
		`Failed, 0/5 done, failed indexes ` + wording.Crop(failed, 20, "…") + `, reason X, rule 1 "OOM"`: {Status: "Failed", Outcome: reconcile.OutcomeFailed, Completions: n(5), FailedIndexes: &failed, Reason: "X", Rule: n(1), RuleName: "OOM"},
	} {
		assert.Equal(t, JobLine(&o), want)
	}
}
