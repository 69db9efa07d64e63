package reconcile

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const metBySuccessPolicy = "SuccessCriteriaMet=True/SuccessPolicy"

// ruleProgress returns the progress of the rules: "rule: have/need".
func ruleProgress(plan Plan) (text []string) {
	for i, p := range plan.Findings.SuccessRules {
		text = append(text, fmt.Sprintf("%d: %d/%d", i, p.Have, p.Need))
	}
	return text
}

// The first rule that is met decides, and the message contains it.
// Requirements: SUC-03
func TestFirstRuleThatIsMetDecides(t *testing.T) {
	for name, c := range map[string]struct {
		rules             []batchv1.SuccessPolicyRule
		progress, message string
	}{
		"both":   {[]batchv1.SuccessPolicyRule{onIndexes("0"), onCount(1)}, "[0: 1/1 1: 1/1]", "Matched rules at index 0"},
		"second": {[]batchv1.SuccessPolicyRule{onIndexes("1-3"), onCount(1)}, "[0: 0/3 1: 1/1]", "Matched rules at index 1"},
		"none":   {[]batchv1.SuccessPolicyRule{onIndexes("0,2"), onCount(2)}, "[0: 1/2 1: 1/2]", "no condition"},
	} {
		t.Run(name, func(t *testing.T) {
			o := observeJob(indexed(4, 4), successRules(c.rules...)).
				with("p0", index(0), succeededPod(0)).with("p1", index(1)).with("p2", index(2)).with("p3", index(3))
			want := `status active 0 terminating 3 succeeded 1 failed 0 completedIndexes "0" ` + metBySuccessPolicy
			if name == "none" {
				want = `status active 3 terminating 0 succeeded 1 failed 0 completedIndexes "0"`
			}
			plan := o.wantShuffled(t, want)
			assert.Equal(t, message(plan, "SuccessCriteriaMet"), c.message, "message")
			assert.Equal(t, fmt.Sprint(ruleProgress(plan)), c.progress, "progress")
		})
	}
	// On every sync, even from the stored state alone.
	observeJob(indexed(4, 1), successRules(onCount(2)), stored(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0,1", 2 })).
		want(t, `status active 0 terminating 0 succeeded 2 failed 0 completedIndexes "0,1" `+metBySuccessPolicy)
}

// More failures than one status can record, all in back-off, or as many pods that are being deleted: the rule is still
// met, and no pod is replaced or waited for.
// Requirements: SUC-03
func TestRuleIsMetBesideDelayedFailures(t *testing.T) {
	for _, gone := range []func(*Pod){failedPod(1, 0), deletedPod(0)} {
		p := &simulated{t: t, observed: limited(observeJob(indexed(4, 4), perIndex(9), successRules(onIndexes("0")), endedIndexes("0", 1, "")), 1).
			with("p1", index(1), gone).with("p2", index(2), gone).with("p3", index(3))}
		assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 1 failed 2 completedIndexes "0" failedIndexes "" SuccessCriteriaMet=True/SuccessPolicy Complete=True/SuccessPolicy`, "end")
	}
}

// Stored and new successes count, below completions; the condition is stored together with all of them.
// Requirements: SUC-08
func TestEvidenceIsStored(t *testing.T) {
	two := stored(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "1,7", 2 })
	plan := observeJob(indexed(5, 5), successRules(onIndexes("1,3")), two).
		with("p3", index(3), succeededPod(0)).with("p4", index(4)).
		want(t, `status active 0 terminating 1 succeeded 2 failed 0 completedIndexes "1,3" `+metBySuccessPolicy)
	assert.Equal(t, fmt.Sprint(ruleProgress(plan)), "[0: 2/2]", "progress")
	// An index out of range, without finalizer, or repeated does not count.
	for name, c := range map[string]struct {
		i      int32
		change func(*Pod)
	}{"out of range": {5, ready}, "no finalizer": {3, untracked}, "no index": {NoIndex, ready}, "twice": {1, ready}} {
		t.Run(name, func(t *testing.T) {
			plan := observeJob(indexed(5, 5), successRules(onCount(2)), two).
				with("p", index(c.i), succeededPod(0), c.change).compute()
			assert.Equal(t, fmt.Sprint(ruleProgress(plan)), "[0: 1/2]", "progress")
		})
	}
	// Successes that do not fit into this status are no evidence yet.
	p := &simulated{t: t, observed: limited(observeJob(indexed(4, 4), successRules(onCount(2))), 1).
		with("p0", index(0), succeededPod(2)).with("p1", index(1), succeededPod(1)).with("p2", index(2)).with("p3", index(3))}
	assert.Equal(t, p.step(), `status active 2 terminating 0 succeeded 1 failed 0 completedIndexes "0"`, "first")
	assert.Equal(t, p.step(), `status active 0 terminating 2 succeeded 2 failed 0 completedIndexes "0,1" `+metBySuccessPolicy+`; release p0`, "second")
	// Failures take the room first.
	limited(observeJob(indexed(3, 3), successRules(onCount(1))), 1).
		with("p0", index(0), failedPod(1, 0)).with("p1", index(1), succeededPod(1)).with("p2", index(2)).
		wantStatus(t, `active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [p0]`)
}

// Every reason to fail takes precedence over a rule that is met in the same sync.
// Requirements: SUC-09
func TestFailureFirst(t *testing.T) {
	met := successRules(onCount(1))
	base := func(options ...func(*batchv1.Job)) *observed {
		return observeJob(append([]func(*batchv1.Job){indexed(3, 3), met}, options...)...).
			with("good", index(0), succeededPod(0)).with("bad", index(1), failedPod(3, 0))
	}
	for name, c := range map[string]struct {
		o    *observed
		want string
	}{
		"FailJob": {base(failurePolicy(onExit("FailJob", 3))).with("p2", index(2)),
			`active 0 terminating 1 succeeded 1 failed 0 completedIndexes "0" uncounted [] [bad p2] FailureTarget=True/PodFailurePolicy_0`},
		"backoffLimit": {base(backoffLimit(0)).with("p2", index(2)),
			`active 0 terminating 1 succeeded 1 failed 0 completedIndexes "0" uncounted [] [bad p2] FailureTarget=True/BackoffLimitExceeded`},
		"deadline": {base(deadline(3600)).with("p2", index(2)),
			`active 0 terminating 1 succeeded 1 failed 0 completedIndexes "0" uncounted [] [bad p2] FailureTarget=True/DeadlineExceeded`},
		"maxFailedIndexes": {base(perIndex(0), maxFailedIndexes(0)).with("p2", index(2)),
			`active 0 terminating 1 succeeded 1 failed 0 completedIndexes "0" failedIndexes "1" uncounted [] [bad p2] FailureTarget=True/MaxFailedIndexesExceeded`},
		"failed indexes": {base(perIndex(0)).with("p2", index(2), succeededPod(0)),
			`active 0 terminating 0 succeeded 2 failed 0 completedIndexes "0,2" failedIndexes "1" uncounted [] [bad] FailureTarget=True/FailedIndexes`},
		"none of them": {base(failurePolicy(onExit("FailJob", 4)), deadline(3601), perIndex(0), maxFailedIndexes(1), backoffLimit(1)).with("p2", index(2)),
			`active 0 terminating 1 succeeded 1 failed 0 completedIndexes "0" failedIndexes "1" uncounted [] [bad] ` + metBySuccessPolicy + "; after 1s"},
	} {
		t.Run(name, func(t *testing.T) { c.o.wantShuffled(t, "status "+c.want) })
	}
}

// The rule is met by the success that ends the last index; the failed index takes precedence.
// Requirements: SUC-10
func TestFailedIndexBeatsRule(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(2, 2), perIndex(0), successRules(onCount(1))).
		with("p0", index(0), failedPod(1, 0)).with("p1", index(1))}
	assert.Equal(t, p.settle(), `active 1 terminating 0 succeeded 0 failed 1 completedIndexes "" failedIndexes "0"`, "first")
	p.end(1, succeededPod(0))
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 1 failed 1 completedIndexes "1" failedIndexes "0" FailureTarget=True/FailedIndexes Failed=True/FailedIndexes`, "end")
}

// Once the criteria are met, nothing fails the Job anymore.
// Requirements: SUC-11
func TestNeverSwitchesToFailed(t *testing.T) {
	for name, option := range map[string]func(*batchv1.Job){
		"FailJob": failurePolicy(onExit("FailJob", 3)), "backoffLimit": backoffLimit(0), "deadline": deadline(1), "index": perIndex(0),
		"maxFailedIndexes": func(j *batchv1.Job) { perIndex(0)(j); maxFailedIndexes(0)(j) },
		"FailIndex":        func(j *batchv1.Job) { perIndex(5)(j); failurePolicy(onExit("FailIndex", 3))(j) },
	} {
		t.Run(name, func(t *testing.T) {
			p := &simulated{t: t, observed: observeJob(indexed(2, 2), successRules(onIndexes("0")), option,
				condition("SuccessCriteriaMet", "True", "SuccessPolicy", "Matched rules at index 0"),
				stored(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0", 1 })).
				with("p1", index(1), failedPod(3, 0))}
			failedIndexes := ""
			if p.Job.Spec.BackoffLimitPerIndex != nil {
				failedIndexes = ` failedIndexes ""`
			}
			assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 1 failed 1 completedIndexes "0"`+failedIndexes+` SuccessCriteriaMet=True/SuccessPolicy Complete=True/SuccessPolicy`, "status")
		})
	}
}

// Requirements: SUC-12
func TestNeverSwitchesToSuccess(t *testing.T) {
	o := observeJob(indexed(3, 3), successRules(onCount(1)), condition("FailureTarget", "True", "BackoffLimitExceeded", "m")).
		with("p0", index(0), succeededPod(0)).with("p1", index(1), deletedPod(0), untracked)
	plan := o.want(t, `status active 0 terminating 1 succeeded 1 failed 0 completedIndexes "0" FailureTarget=True/BackoffLimitExceeded`)
	assert.Equal(t, len(ruleProgress(plan)), 0, "rules")
	p := &simulated{t: t, observed: o}
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 1 failed 0 completedIndexes "0" FailureTarget=True/BackoffLimitExceeded Failed=True/BackoffLimitExceeded`, "end")
}

// Conditions with status False have no effect, and do not change.
// Requirements: SUC-13
func TestFalseConditionsMeanNothing(t *testing.T) {
	o := observeJob(indexed(2, 2), successRules(onCount(1)), stored(func(s *batchv1.JobStatus) { s.Active = 2 }),
		condition("FailureTarget", "False", "X", "x"), condition("SuccessCriteriaMet", "False", "Y", "y")).
		with("p0", index(0)).with("p1", index(1))
	o.want(t, "")
	failedPod(1, 0)(o.Pods[1])
	o.want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [p1] FailureTarget=False/X SuccessCriteriaMet=False/Y; after 10s`)
	succeededPod(0)(o.Pods[0])
	o.Pods = o.Pods[:1]
	o.want(t, `status active 0 terminating 0 succeeded 1 failed 0 completedIndexes "0" FailureTarget=False/X SuccessCriteriaMet=True/SuccessPolicy`)
}

// Running pods are deleted and not counted; failed pods are counted.
// Requirements: SUC-14
func TestRunningPodsDoNotFail(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(4, 4), successRules(onIndexes("0"))).
		with("good", index(0), succeededPod(0)).
		with("bad", index(1), failedPod(1, 0)).
		with("pending", index(2), func(p *Pod) { p.Phase = corev1.PodPending }).
		with("gone", index(3), deletedPod(0))} // under TerminatingOrFailed: considered failed
	for _, want := range []string{
		`status active 0 terminating 2 succeeded 1 failed 0 completedIndexes "0" uncounted [] [bad gone] SuccessCriteriaMet=True/SuccessPolicy`,
		`delete pending; release bad gone good`,
		`release pending`,
	} {
		assert.Equal(t, p.step(), want, "stage")
	}
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 1 failed 2 completedIndexes "0" SuccessCriteriaMet=True/SuccessPolicy Complete=True/SuccessPolicy`, "end")
}

// Under podReplacementPolicy Failed, a terminating pod has not failed: it is not counted, even if it was deleted long
// before, and ends in phase Failed afterward.
// Requirements: SUC-14
func TestTerminatingPodDoesNotFail(t *testing.T) {
	for _, ago := range []time.Duration{0, time.Minute} {
		p := &simulated{t: t, observed: observeJob(indexed(2, 2), successRules(onIndexes("0")), replacing(batchv1.Failed)).
			with("good", index(0), succeededPod(0)).with("gone", index(1), deletedPod(ago))}
		assert.Equal(t, p.step(), `status active 0 terminating 1 succeeded 1 failed 0 completedIndexes "0" SuccessCriteriaMet=True/SuccessPolicy`, "interim")
		assert.Equal(t, p.step(), `release gone good`, "finalizers")
		assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 1 failed 0 completedIndexes "0" SuccessCriteriaMet=True/SuccessPolicy Complete=True/SuccessPolicy`, "end")
	}
}

// All failures known before the Job succeeds are counted, even if there are more than one status can record, and
// whenever a user deletes the pods.
// Requirements: SUC-14
func TestFailuresCountBeforeSuccess(t *testing.T) {
	for n := range 5 {
		p := &simulated{t: t, observed: limited(observeJob(indexed(4, 4), successRules(onIndexes("0")), stored(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0", 1 })), 1).
			with("first", index(1), failedPod(1, time.Second)).with("second", index(2), failedPod(1, 0)).with("gone", index(3), deletedPod(0))}
		for range n {
			p.step()
		}
		if o := p.pod("second"); o != nil {
			o.Deleting = true
		}
		assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 1 failed 3 completedIndexes "0" SuccessCriteriaMet=True/SuccessPolicy Complete=True/SuccessPolicy`, "end")
	}
}

// The same if the end of a pod is not reported yet: the success does not wait, and the failure counts as it is.
// Requirements: SUC-14
func TestUnreportedFailureCountsAtSuccess(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(2, 2), successRules(onIndexes("0")), failurePolicy(onExit("FailJob", 42))).
		with("s", index(0), succeededPod(0)).with("p", index(1), unreported).since(time.Second)}
	assert.Equal(t, p.step(), `status active 0 terminating 0 succeeded 1 failed 0 completedIndexes "0" uncounted [] [p] SuccessCriteriaMet=True/SuccessPolicy; after 29s`, "interim")
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 1 failed 1 completedIndexes "0" SuccessCriteriaMet=True/SuccessPolicy Complete=True/SuccessPolicy`, "end")
}

// The same if a pod that we deleted ends, with an exit code, before its finalizer is gone: SIGTERM made it fail, not
// the work.
// Requirements: SUC-14
func TestDeletedPodDoesNotFail(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(2, 2), successRules(onIndexes("0"))).
		with("good", index(0), succeededPod(0)).with("runs", index(1))}
	assert.Equal(t, p.step(), `status active 0 terminating 1 succeeded 1 failed 0 completedIndexes "0" SuccessCriteriaMet=True/SuccessPolicy`, "interim")
	assert.Equal(t, p.step(), `delete runs; release good`, "delete")
	failedPod(143, 0)(p.pod("runs")) // still Deleting, still with the finalizer
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 1 failed 0 completedIndexes "0" SuccessCriteriaMet=True/SuccessPolicy Complete=True/SuccessPolicy`, "end")
}

// A rule that is met by the last index takes precedence over completions.
// Requirements: SUC-17
func TestRuleComesBeforeCompletions(t *testing.T) {
	for name, c := range map[string]struct {
		rule batchv1.SuccessPolicyRule
		want string
	}{
		"met":     {onCount(2), "SuccessPolicy"},
		"all":     {onIndexes("0,1"), "SuccessPolicy"},
		"not met": {onIndexes(""), "CompletionsReached"},
	} {
		t.Run(name, func(t *testing.T) {
			observeJob(indexed(2, 2), successRules(c.rule)).
				with("p0", index(0), succeededPod(0)).with("p1", index(1), succeededPod(0)).
				wantShuffled(t, `status active 0 terminating 0 succeeded 2 failed 0 completedIndexes "0,1" SuccessCriteriaMet=True/`+c.want)
		})
	}
}

// The same if the last successes do not fit into one status: the rule is met as soon as they are stored, and nothing
// else may decide before.
// Requirements: SUC-17
func TestRuleComesBeforeCompletionsAtTheLimit(t *testing.T) {
	p := &simulated{t: t, observed: limited(observeJob(indexed(2, 2), successRules(onCount(2))), 1).
		with("p0", index(0), succeededPod(time.Second)).with("p1", index(1), succeededPod(0))}
	assert.Equal(t, p.step(), `status active 0 terminating 0 succeeded 1 failed 0 completedIndexes "0"`, "first")
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 2 failed 0 completedIndexes "0,1" SuccessCriteriaMet=True/SuccessPolicy Complete=True/SuccessPolicy`, "end")
}

// Requirements: SUC-19
func TestGateOffEvaluatesNoRule(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(2, 2), successRules(onCount(1))).
		with("p0", index(0), succeededPod(0)).with("p1", index(1))}
	p.config.Features.SuccessPolicy = false
	plan := p.compute()
	assert.Equal(t, len(ruleProgress(plan)), 0, "rules")
	assert.Equal(t, p.settle(), `active 1 terminating 0 succeeded 1 failed 0 completedIndexes "0"`, "runs")
	p.end(1, succeededPod(0))
	assert.Equal(t, p.settle(), `active 0 terminating 0 succeeded 2 failed 0 completedIndexes "0,1" SuccessCriteriaMet=True/ Complete=True/`, "end")
}

// Requirements: SUC-20
func TestGateOnAgainEvaluatesRules(t *testing.T) {
	p := &simulated{t: t, observed: observeJob(indexed(5, 5), successRules(onCount(3)))}
	p.settle()
	for i, want := range []string{
		`active 4 terminating 0 succeeded 1 failed 0 completedIndexes "0"`,
		`active 3 terminating 0 succeeded 2 failed 0 completedIndexes "0,1"`,
		`active 0 terminating 0 succeeded 3 failed 0 completedIndexes "0-2" SuccessCriteriaMet=True/SuccessPolicy Complete=True/SuccessPolicy`,
	} {
		p.config.Features.SuccessPolicy = i != 1
		p.end(int32(i), succeededPod(0))
		assert.Equal(t, p.settle(), want, "status")
	}
	// A finished Job does not change, whatever the gate.
	p.config.Features.SuccessPolicy = false
	p.want(t, "")
	// If the gate is enabled after more than enough successes, the Job ends at once.
	observeJob(indexed(5, 5), successRules(onCount(3)), stored(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0-3", 4 })).
		with("p4", index(4)).
		want(t, `status active 0 terminating 1 succeeded 4 failed 0 completedIndexes "0-3" `+metBySuccessPolicy)
}

// JOB-02, MGB-09 with both features of interim conditions disabled: Complete follows at once, without
// SuccessCriteriaMet, which such an API server rejects, and without a reason if KEP-3998 is disabled too. A Job that
// fails does not wait for its pods to end.
func TestCompleteFollowsAtOnceWithoutTheGates(t *testing.T) {
	for features, want := range map[Features]string{
		{ManagedBy: true}:     `active 0 terminating nil succeeded 1 failed 0 completedIndexes "" SuccessCriteriaMet=True/ Complete=True/`,
		{SuccessPolicy: true}: `active 0 terminating nil succeeded 1 failed 0 completedIndexes "" Complete=True/CompletionsReached`,
		{}:                    `active 0 terminating nil succeeded 1 failed 0 completedIndexes "" Complete=True/`,
	} {
		o := observeJob(sized(1, 1))
		o.config.Features = features
		o.with("s", succeededPod(time.Minute)).with("t", deletedPod(time.Second), untracked)
		o.settle(t)
		if features.ManagedBy {
			o.Pods = nil // It waits for terminating pods.
			o.settle(t)
		}
		assert.Equal(t, statusText(&o.Job.Status), want, features)
		if !IsFinished(o.Job) || o.Job.Status.CompletionTime == nil {
			t.Errorf("%+v: not finished", features)
		}
	}
	o := observeJob(sized(2, 2), backoffLimit(0)).with("f", failedPod(1, time.Minute)).with("r")
	o.config.Features = Features{}
	o.wantStages(t, `status active 0 terminating nil succeeded 0 failed 0 completedIndexes "" uncounted [] [f r] FailureTarget=True/BackoffLimitExceeded`,
		"delete r; release f", "release r",
		`status active 0 terminating nil succeeded 0 failed 2 completedIndexes "" FailureTarget=True/BackoffLimitExceeded Failed=True/BackoffLimitExceeded`)
}
