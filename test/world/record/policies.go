package main

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

const (
	failJob   = batchv1.PodFailurePolicyActionFailJob
	failIndex = batchv1.PodFailurePolicyActionFailIndex
	count     = batchv1.PodFailurePolicyActionCount
	ignore    = batchv1.PodFailurePolicyActionIgnore
)

// twoRules returns a Job whose index 1 fails as in the first rule and is counted, and whose index 2 then fails as in the
// second.
func twoRules(more ...change) func(*stage) *batchv1.Job {
	return of(append([]change{
		indexed(3, 3), rules(onExit(count, 1, 2), onExit(failJob, 42)),
		does("run-time.0", "1s", "run-time.1", "3s", "exit-code.1", "1", "run-time.2", "7s", "exit-code.2", "42", "message.2", "schema 7 is not supported"),
	}, more...)...)
}

// policyEndings returns scenarios of Jobs that fail because of a rule or of their indexes.
func policyEndings() []scenario {
	byRule := all(failed(batchv1.JobReasonPodFailurePolicy), countedSuccesses(1), countedFailures(2))
	return []scenario{
		{
			name: "failure-policy-named", builtin: true,
			what: "Index 2 exits with 42: rule 0 (Retryable, exit codes 1 and 2) is passed over, rule 1 (SchemaTooOld) fails the Job; index 1 exited with 1 before, and rule 0 counted it. Ours has the name in the reason; the built-in controller does not know the annotation.",
			play: runs(twoRules(named("0=Retryable;1=SchemaTooOld")), byRule),
		}, {
			name: "failure-policy-unnamed", builtin: true,
			what: "The same as failure-policy-named, but no rule has a name: ours has the index of the rule in the reason, PodFailurePolicy_1, the built-in controller in the message only.",
			play: runs(twoRules(), byRule),
		}, {
			name: "failed-indexes", builtin: true,
			what: "Index 2 of 5 fails twice, with backoffLimitPerIndex 1, while all others succeed: Failed, FailedIndexes.",
			play: runs(of(indexed(5, 5), perIndex(1), does("run-time", "1s", "exit-code.2", "1")),
				all(failed(batchv1.JobReasonFailedIndexes), countedSuccesses(4), countedFailures(2))),
		}, {
			name: "failed-indexes-rule", builtin: true,
			what: "Index 1 of 4 exits with 42, and the FailIndex rule 0 (named NoSuchShard) gives it up at its first attempt of 4: Failed, FailedIndexes.",
			play: runs(of(indexed(4, 4), perIndex(3), rules(onExit(failIndex, 42)), named("0=NoSuchShard"), does("run-time", "1s", "exit-code.1", "42", "message.1", "shard 1 does not exist")),
				all(failed(batchv1.JobReasonFailedIndexes), countedSuccesses(3), countedFailures(1))),
		}, {
			name: "max-failed-indexes", builtin: true,
			what: "Indexes 0, 2 and 4 of 8 fail, maxFailedIndexes is 2, and the others are stopped: Failed, MaxFailedIndexesExceeded.",
			play: runs(of(indexed(8, 6), perIndex(0), with(func(j *batchv1.JobSpec) { j.MaxFailedIndexes = ptr.To[int32](2) }),
				does("run-time", forever, "run-time.0", "1s", "exit-code.0", "1", "run-time.2", "2s", "exit-code.2", "1", "run-time.4", "4s", "exit-code.4", "1")),
				failed(batchv1.JobReasonMaxFailedIndexesExceeded)),
		},
	}
}
