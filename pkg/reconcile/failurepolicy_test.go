package reconcile

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// ruleNames sets the annotation of rule names on the Job.
func ruleNames(value string) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Annotations = map[string]string{rulename.Annotation: value} }
}

// onNotExit returns a rule with operator NotIn.
func onNotExit(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	r := onExit(action, codes...)
	r.OnExitCodes.Operator = batchv1.PodFailurePolicyOnExitCodesOpNotIn
	return r
}

// fateOf returns the condition, reason and message that a plan decides on, or has found.
func fateOf(plan Plan) (conditionType batchv1.JobConditionType, reason, message string) {
	if f := plan.Findings.Outcome; f != nil {
		return f.Condition, f.Reason, f.Message
	}
	return "", "", ""
}

// wantMatch checks the only verdict of the plan.
func wantMatch(t *testing.T, plan Plan, pod string, want failurepolicy.Match) {
	t.Helper()
	rules := plan.Findings.Verdicts
	if len(rules) != 1 || rules[0].Pod.Name != pod || rules[0].Match == nil || !reflect.DeepEqual(*rules[0].Match, want) {
		got, _ := json.Marshal(rules)
		t.Errorf("verdicts %s\nwant %+v on %s", got, want, pod)
	}
}

const countOne = `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [p]; create`

// PFP-01: the policy is evaluated only on pods in phase Failed, whatever their containers and conditions before.
func TestOnlyFailedPodsAreJudged(t *testing.T) {
	policy := failurePolicy(onExit("FailJob", 42), onCondition("FailJob", corev1.DisruptionTarget))
	evidence := func(p *Pod) {
		p.Terminated = []failurepolicy.Container{{Name: "main", ExitCode: 42}}
		p.Conditions = []failurepolicy.Condition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	}
	for _, phase := range []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodUnknown, corev1.PodSucceeded} {
		for _, deleting := range []bool{false, true} {
			plan := observeJob(policy, sized(2, 1)).with("p", evidence, func(p *Pod) {
				p.Phase, p.Deleting, p.FinishedAt = phase, deleting, now
			}).compute()
			_, reason, _ := fateOf(plan)
			if len(plan.Findings.Verdicts) != 0 || reason != "" {
				t.Errorf("phase %s, deleting %v: judged, %s", phase, deleting, reason)
			}
		}
	}
	// TerminatingOrFailed, no policy: a terminating pod counts as failed without an evaluation.
	plan := observeJob().with("p", evidence, deletedPod(time.Minute)).
		want(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" uncounted [] [p]; create`)
	if f := plan.Findings.RecordedFailed; len(f) != 1 || f[0].Match != nil {
		t.Errorf("recorded %+v", f)
	}
	// The same evidence in phase Failed, even while the pod is being deleted.
	for _, deleting := range []bool{false, true} {
		plan := observeJob(policy).with("p", failedPod(42, time.Minute), evidence, func(p *Pod) { p.Deleting = deleting }).compute()
		if _, reason, _ := fateOf(plan); reason != "PodFailurePolicy_0" {
			t.Errorf("deleting %v: %q", deleting, reason)
		}
	}
}

// PFP-02: the first rule that matches decides; without a match the failure counts; rules that this version does not
// know do not match.
func TestFirstMatchingRuleDecides(t *testing.T) {
	unknownOperator := onExit("FailJob", 1)
	unknownOperator.OnExitCodes.Operator = "Near"
	passed := func(whys ...failurepolicy.Why) (out []failurepolicy.Passed) {
		for i, why := range whys {
			out = append(out, failurepolicy.Passed{Rule: int32(i), Why: why})
		}
		return out
	}
	for name, test := range map[string]struct {
		rules []batchv1.PodFailurePolicyRule
		match failurepolicy.Match
		plan  string
	}{
		"none matches": {
			[]batchv1.PodFailurePolicyRule{onExit("FailJob", 2), onNotExit("FailJob", 1), onCondition("Ignore", corev1.DisruptionTarget)},
			failurepolicy.Match{Rule: -1, Passed: passed(failurepolicy.CodeNotListed, failurepolicy.CodesListed, failurepolicy.NoCondition)},
			countOne,
		},
		"empty policy": {nil, failurepolicy.Match{Rule: -1}, countOne},
		"Ignore before FailJob": {
			[]batchv1.PodFailurePolicyRule{onExit("Ignore", 1), onExit("FailJob", 1)},
			failurepolicy.Match{Rule: 0, Action: "Ignore", Container: "main", ExitCode: 1},
			"create; release p",
		},
		"Count before FailJob": {
			[]batchv1.PodFailurePolicyRule{onExit("Count", 1), onExit("FailJob", 1)},
			failurepolicy.Match{Rule: 0, Action: "Count", Container: "main", ExitCode: 1},
			countOne,
		},
		"unknown action and operator": {
			[]batchv1.PodFailurePolicyRule{onExit("Explode", 1), unknownOperator, {Action: "FailJob"}, onExit("Ignore", 1)},
			failurepolicy.Match{Rule: 3, Action: "Ignore", Container: "main", ExitCode: 1,
				Passed: passed(failurepolicy.UnknownAction, failurepolicy.UnknownOperator, failurepolicy.NoRequirement)},
			"create; release p",
		},
		"FailIndex without backoffLimitPerIndex": {
			[]batchv1.PodFailurePolicyRule{onExit("FailIndex", 1), onExit("Ignore", 1)},
			failurepolicy.Match{Rule: 1, Action: "Ignore", Container: "main", ExitCode: 1, Passed: passed(failurepolicy.ActionUnavailable)},
			"create; release p",
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := observeJob(failurePolicy(test.rules...)).with("p", failedPod(1, time.Hour)).want(t, test.plan)
			wantMatch(t, plan, "p", test.match)
			for _, f := range plan.Findings.RecordedFailed {
				if f.Match == nil || !reflect.DeepEqual(*f.Match, test.match) {
					t.Errorf("recorded %+v, match %+v", f, f.Match)
				}
			}
		})
	}
}

// PFP-05: an ignored failure is not counted, and the Job continues, even with backoffLimit 0.
func TestIgnoredFailureCountsNowhere(t *testing.T) {
	o := observeJob(backoffLimit(0), failurePolicy(onCondition("Ignore", corev1.DisruptionTarget))).
		with("p", failedPod(137, time.Hour), func(p *Pod) {
			p.Conditions = []failurepolicy.Condition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		})
	plan := o.want(t, "create; release p")
	match := failurepolicy.Match{Rule: 0, Action: "Ignore", Condition: corev1.DisruptionTarget}
	wantMatch(t, plan, "p", match)
	if f := plan.Findings.NotCounted; len(f) != 1 || f[0] != (NotCounted{o.Pods[0], IgnoredByRule}) {
		t.Errorf("not counted: %+v", f)
	}
	assert.Equal(t, plan.Findings.BackoffLimit.Failures, 0, "failures")
	if r := plan.Release[0]; !r.IgnoredFailure.Equal(now.Add(-time.Hour)) || r.ResourceVersion != "" {
		t.Errorf("release %+v", r)
	}
	if plan.Create[0].Attempt != 1 || plan.CreateReason != CreateNew {
		t.Errorf("%+v for %q", plan.Create, plan.CreateReason)
	}
	// The condition must be True; and a pod that could not be released in this sync is left alone.
	counted := observeJob(backoffLimit(0), failurePolicy(onCondition("Ignore", corev1.DisruptionTarget))).
		with("p", failedPod(137, time.Hour), func(p *Pod) {
			p.Conditions = []failurepolicy.Condition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse}}
		}).compute()
	if _, reason, _ := fateOf(counted); reason != "BackoffLimitExceeded" {
		t.Errorf("reason %q", reason)
	}
	o.skip("p").want(t, "create")
}

// PFP-06 (D-13): an ignored failure delays the next pod like any other: before the pod is released, afterward, and when
// only the record contains it.
func TestIgnoredFailureDelays(t *testing.T) {
	o := observeJob(backoffLimit(0), failurePolicy(onExit("Ignore", 1))).with("p", failedPod(1, 4*time.Second))
	plan := o.want(t, "release p; after 6s")
	if f := plan.Findings.Backoff; f == nil || f.Failures != 1 || !f.Until.Equal(now.Add(6*time.Second)) {
		t.Errorf("%+v", f)
	}
	o.carryOut(t, plan).want(t, "after 6s")
	o.Pods = nil
	o.want(t, "after 6s")
	// The second in a row: 20s.
	plan = o.with("q", failedPod(1, time.Second)).want(t, "release q; after 19s")
	if f := plan.Findings.Backoff; f == nil || f.Failures != 2 {
		t.Errorf("%+v", f)
	}
	// A status stored in between must not count the ignored failure twice.
	o = observeJob(sized(2, 2), failurePolicy(onExit("Ignore", 1))).with("p", failedPod(1, 4*time.Second)).with("q", succeededPod(time.Hour))
	o.carryOut(t, o.compute())
	assert.Equalf(t, o.Backoff.Failures, 1, "remembered %+v", o.Backoff)
}

// PFP-07: Count counts; FailJob ends the Job at once, and only then its pods; FailIndex ends the index (BLI-14).
func TestActionDecidesWhatAFailureEnds(t *testing.T) {
	plan := observeJob(failurePolicy(onExit("Count", 1))).with("p", failedPod(1, time.Hour)).want(t, countOne)
	if plan.Create[0].Attempt != 2 || plan.CreateReason != RecreateFailed {
		t.Errorf("%+v for %q", plan.Create, plan.CreateReason)
	}

	o := observeJob(sized(3, 3), failurePolicy(onExit("FailJob", 1))).with("p", failedPod(1, time.Hour)).with("q", ready).with("r", ready)
	o.Job.Status.Active = 3
	plan = o.want(t, `status active 0 terminating 2 succeeded 0 failed 0 completedIndexes "" uncounted [] [p q r] FailureTarget=True/PodFailurePolicy_0`)
	if !plan.Urgent {
		t.Error("not urgent")
	}
	wantMatch(t, plan, "p", failurepolicy.Match{Rule: 0, Action: "FailJob", Container: "main", ExitCode: 1})
	plan = o.carryOut(t, plan).want(t, "delete q r; release p")
	o.carryOut(t, plan).want(t, `release q r`)

	o = observeJob(indexed(2, 2), perIndex(5), failurePolicy(onExit("FailIndex", 42))).
		with("p", index(0), failedPod(42, time.Hour)).with("q", index(1))
	plan = o.want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p]`)
	want := failurepolicy.Match{Rule: 0, Action: "FailIndex", Container: "main", ExitCode: 42}
	if f := plan.Findings.IndexFailures; len(f) != 1 || f[0].Match == nil || !reflect.DeepEqual(*f[0].Match, want) || f[0].Pod.Index != 0 {
		t.Errorf("%+v", f)
	}
}

// PFP-08: FailureTarget is stored, with the record of the pod, before the pod that caused it is released; the pod is
// not needed afterward.
func TestFailureTargetBeforeRelease(t *testing.T) {
	o := observeJob(sized(2, 2), failurePolicy(onExit("FailJob", 42), onExit("Ignore", 3))).
		with("p", failedPod(42, time.Minute)).with("i", failedPod(3, time.Minute))
	plan := o.want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [p] FailureTarget=True/PodFailurePolicy_0; release i`)
	// Lost write: the plan is the same.
	assert.Equal(t, planText(o.compute()), planText(plan), "again")
	o.carryOut(t, Plan{Status: plan.Status})
	o.want(t, "release i p")
	o.Pods = nil // the crash, and the deletion of the pod
	plan = o.want(t, `status active 0 terminating 0 succeeded 0 failed 1 completedIndexes "" FailureTarget=True/PodFailurePolicy_0 Failed=True/PodFailurePolicy_0`)
	if c := plan.Status.Conditions[1]; c.Message != "Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 0" {
		t.Errorf("message %q", c.Message)
	}
}

// PFP-09: Failed copies reason and message from FailureTarget, whatever the pods show now.
func TestFailedCopiesFailureTarget(t *testing.T) {
	const message = "Container main for pod ns/gone failed with exit code 5 matching FailJob rule at index 1"
	o := observeJob(failurePolicy(onExit("FailJob", 42)), condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "PodFailurePolicy_1", message)).
		with("other", failedPod(42, time.Hour), untracked)
	plan := o.want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" FailureTarget=True/PodFailurePolicy_1 Failed=True/PodFailurePolicy_1`)
	if c := plan.Status.Conditions[1]; c.Message != message || !c.LastTransitionTime.Time.Equal(now) {
		t.Errorf("%+v", c)
	}
	if plan.Status.CompletionTime != nil {
		t.Error("a Job that failed has a completionTime")
	}
	assert.Equal(t, plan.Status.Conditions[0], o.Job.Status.Conditions[0], "FailureTarget was touched")
	// A pod that is not counted yet, and would match another rule, only counts.
	plan = observeJob(failurePolicy(onExit("FailJob", 42)), condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "PodFailurePolicy_1", message)).
		with("other", failedPod(42, time.Hour)).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [other] FailureTarget=True/PodFailurePolicy_1`)
	if _, reason, m := fateOf(plan); reason != "PodFailurePolicy_1" || m != message {
		t.Errorf("outcome %s: %s", reason, m)
	}
	assert.Equal(t, *plan.Findings.WaitFinish, WaitFinish{Ended: 1, Uncounted: 1}, "waits for")
}

// PFP-18 (D-41): operations that failed in this sync do not revert the decision.
func TestFailJobSurvivesFailures(t *testing.T) {
	o := observeJob(sized(3, 3), failurePolicy(onExit("FailJob", 42))).
		with("p", failedPod(42, time.Minute)).with("q").with("r")
	o.HoldCreation = true
	o.skip("p", "q")
	plan := o.want(t, `status active 0 terminating 2 succeeded 0 failed 0 completedIndexes "" uncounted [] [p q r] FailureTarget=True/PodFailurePolicy_0`)
	o.carryOut(t, plan)
	// q could not be deleted, and the matched pod is gone: the outcome stays.
	o.Pods = o.Pods[1:]
	plan = o.want(t, `delete r`)
	if _, reason, message := fateOf(plan); reason != "PodFailurePolicy_0" || !strings.Contains(message, "pod ns/p ") {
		t.Errorf("outcome %s: %s", reason, message)
	}
	plan = o.carryOut(t, plan).want(t, `release r`)
	o.carryOut(t, plan)
	// q still runs: the status says so, and the terminal condition waits.
	plan = o.want(t, `status active 1 terminating 1 succeeded 0 failed 2 completedIndexes "" uncounted [] [q] FailureTarget=True/PodFailurePolicy_0`)
	assert.Equal(t, *plan.Findings.WaitFinish, WaitFinish{Active: 1, Terminating: 1, Uncounted: 1}, "waits for")
}

// PFN-01: names are written only to the reason of the condition.
func TestNamesStayWhereTheyAre(t *testing.T) {
	o := observeJob(failurePolicy(onExit("FailJob", 1), onExit("FailJob", 2)), ruleNames("0=SecretName")).with("p", failedPod(2, time.Minute))
	o.RuleNames = []string{"", ""}
	before := o.Job.DeepCopy()
	plan := o.compute()
	assert.DeepEqual(t, before, o.Job, "the Job was changed")
	if text, _ := json.Marshal(plan.Status); strings.Contains(string(text), "SecretName") {
		t.Errorf("%s", text)
	}
	o = observeJob(failurePolicy(onExit("FailJob", 1)), ruleNames("0=SecretName")).with("p", failedPod(1, time.Minute))
	plan = o.compute()
	plan.Status.Conditions[0].Reason = ""
	if text, _ := json.Marshal(plan.Status); strings.Contains(string(text), "SecretName") {
		t.Errorf("outside the reason: %s", text)
	}
}

// PFN-02, PFN-06: the reason ends with the name of the rule, or with its index, whether the rule is about exit codes or
// about conditions.
func TestReasonEndsWithTheRule(t *testing.T) {
	rules := []batchv1.PodFailurePolicyRule{
		onExit("FailJob", 1), onExit("Ignore", 9), onExit("FailJob", 2), onExit("FailJob", 3), onCondition("FailJob", corev1.DisruptionTarget),
	}
	const disrupted = 137 // The pod has the condition, too.
	for _, test := range []struct {
		names, want string
		exit        int32
	}{
		{"", "PodFailurePolicy_0", 1},
		{"", "PodFailurePolicy_3", 3},
		{"0=ExitOne", "PodFailurePolicy_ExitOne", 1},
		{"0=ExitOne", "PodFailurePolicy_3", 3},
		{"3=a,b:c", "PodFailurePolicy_a,b:c", 3},
		{"1=Nine;2=2;3=Three", "PodFailurePolicy_2", 2},
		{"", "PodFailurePolicy_4", disrupted},
		{"4=Lost", "PodFailurePolicy_Lost", disrupted},
	} {
		end := func(p *Pod) {
			failedPod(test.exit, time.Minute)(p)
			if test.exit == disrupted {
				p.Conditions = []failurepolicy.Condition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
			}
		}
		plan := observeJob(failurePolicy(rules...), ruleNames(test.names)).with("p", end).
			want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [p] FailureTarget=True/`+test.want)
		if conditionType, reason, _ := fateOf(plan); conditionType != "FailureTarget" || reason != test.want {
			t.Errorf("outcome %s %s", conditionType, reason)
		}
	}
}

// PFN-04: a later FailJob rule that also matches has no effect.
func TestLaterRuleIsSilent(t *testing.T) {
	plan := observeJob(failurePolicy(onExit("Count", 1), onExit("FailJob", 1)), ruleNames("1=Fatal")).with("p", failedPod(1, time.Hour)).want(t, countOne)
	wantMatch(t, plan, "p", failurepolicy.Match{Rule: 0, Action: "Count", Container: "main", ExitCode: 1})
	observeJob(failurePolicy(onExit("FailJob", 1), onNotExit("FailJob", 7)), ruleNames("0=First;1=Second")).with("p", failedPod(1, time.Hour)).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [p] FailureTarget=True/PodFailurePolicy_First`)
}

// PFN-05: of several failures the earliest decides, then the lowest index, then the name, whatever the order of the
// pods.
func TestEarliestFailureDecides(t *testing.T) {
	policy := failurePolicy(onExit("FailJob", 1), onExit("FailJob", 2), onExit("FailJob", 3), onExit("Count", 4))
	names := ruleNames("0=One;1=Two;2=Three")
	for name, test := range map[string]struct {
		o    *observed
		want string
	}{
		"finish time": {observeJob(indexed(5, 5), policy, names).
			with("a", index(0), failedPod(1, time.Minute)).with("b", index(1), failedPod(2, 3*time.Minute)).
			with("c", index(2), failedPod(3, 2*time.Minute)).with("d", index(3), failedPod(4, time.Hour)), "PodFailurePolicy_Two: b"},
		"index": {observeJob(indexed(5, 5), policy, names).
			with("a", index(2), failedPod(1, time.Minute)).with("b", index(3), failedPod(2, time.Minute)).
			with("c", index(1), failedPod(3, time.Minute)), "PodFailurePolicy_Three: c"},
		"name": {observeJob(sized(3, 3), policy, names).
			with("c", failedPod(3, time.Minute)).with("b", failedPod(2, time.Minute)).with("a", failedPod(1, time.Minute)), "PodFailurePolicy_One: a"},
		"UID": {observeJob(indexed(5, 5), policy, names).
			with("b", index(0), failedPod(2, time.Minute), func(p *Pod) { p.Name = "same" }).
			with("a", index(0), failedPod(1, time.Minute), func(p *Pod) { p.Name = "same" }), "PodFailurePolicy_One: same"},
	} {
		first := ""
		random := rand.New(rand.NewPCG(1, 2))
		for range 100 {
			random.Shuffle(len(test.o.Pods), func(i, j int) { test.o.Pods[i], test.o.Pods[j] = test.o.Pods[j], test.o.Pods[i] })
			plan := test.o.compute()
			_, reason, message := fateOf(plan)
			pod := strings.Fields(message)[4]
			if got := reason + ": " + strings.TrimPrefix(pod, "ns/"); got != test.want {
				t.Fatalf("%s: %s, want %s", name, got, test.want)
			}
			if text := planText(plan); first == "" {
				first = text
			} else if text != first {
				t.Fatalf("%s: %s, and then %s", name, first, text)
			}
		}
	}
}

// PFN-07: names of rules with another action do not appear in a reason.
func TestNamesOfOtherActionsReachNoReason(t *testing.T) {
	policy := failurePolicy(onExit("FailIndex", 1), onExit("Ignore", 2), onExit("Count", 3))
	names := ruleNames("0=NameA;1=NameB;2=NameC")
	observeJob(indexed(1, 1), perIndex(5), policy, names).with("p", index(0), failedPod(1, time.Hour)).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p] FailureTarget=True/FailedIndexes`)
	observeJob(indexed(2, 2), perIndex(5), policy, names, maxFailedIndexes(0)).
		with("p", index(0), failedPod(1, time.Hour)).with("q", index(1)).
		want(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" failedIndexes "0" uncounted [] [p q] FailureTarget=True/MaxFailedIndexesExceeded`)
	observeJob(policy, names).with("p", failedPod(2, time.Hour)).want(t, "create; release p")
	observeJob(policy, names, backoffLimit(0)).with("p", failedPod(3, time.Hour)).
		want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [p] FailureTarget=True/BackoffLimitExceeded`)
}

// PFN-08: the message is the built-in controller's, with the index of the rule and
// without its name.
func TestMessageLeavesOutTheName(t *testing.T) {
	policy := failurePolicy(onExit("Ignore", 9), onExit("FailJob", 42), onCondition("FailJob", corev1.DisruptionTarget))
	for _, names := range []string{"", "1=Fatal;2=Disrupted"} {
		_, _, message := fateOf(observeJob(policy, ruleNames(names)).with("p", failedPod(42, time.Hour)).compute())
		assert.Equal(t, message, "Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 1")
		_, reason, message := fateOf(observeJob(policy, ruleNames(names)).with("p", failedPod(1, time.Hour), func(p *Pod) {
			p.Conditions = []failurepolicy.Condition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}, {Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		}).compute())
		assert.Equal(t, message, "Pod ns/p has condition DisruptionTarget matching FailJob rule at index 2")
		assert.Equal(t, (strings.TrimPrefix(reason, "PodFailurePolicy_") == "Disrupted"), (names != ""), reason)
	}
}

// PFN-09: with the gate off, the reason is the built-in controller's, and names are not even parsed.
func TestNamesSwitchedOffAreNotRead(t *testing.T) {
	for _, names := range []string{"", "0=Fatal", "not=legal at all"} {
		o := observeJob(failurePolicy(onExit("FailJob", 42)), ruleNames(names)).with("p", failedPod(42, time.Hour))
		o.RuleNames = []string{"Native"}
		o.config.Features.RuleNames = false
		plan := o.want(t, `status active 0 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [p] FailureTarget=True/PodFailurePolicy`)
		if f := plan.Findings; len(f.RuleNames)+len(f.Violations) != 0 {
			t.Errorf("%q, %v", f.RuleNames, f.Violations)
		}
	}
}

// PFN-10: a stored reason outlives the gate, before and after Failed.
func TestStoredSuffixSurvivesGate(t *testing.T) {
	target := condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "PodFailurePolicy_Fatal", "why")
	o := observeJob(failurePolicy(onExit("FailJob", 42)), ruleNames("0=Fatal"), target)
	o.config.Features = Features{}
	o.want(t, `status active 0 terminating nil succeeded 0 failed 0 completedIndexes "" FailureTarget=True/PodFailurePolicy_Fatal Failed=True/PodFailurePolicy_Fatal`)
	o = observeJob(failurePolicy(onExit("FailJob", 42)), ruleNames("0=Fatal"), target, condition(batchv1.JobFailed, corev1.ConditionTrue, "PodFailurePolicy_Fatal", "why"))
	o.config.Features = Features{}
	o.want(t, "")
}

// PFN-12: names without a policy, or without rules, have no effect, and are no violations.
func TestNamesWithoutPolicyMeanNothing(t *testing.T) {
	for _, names := range []string{"0=Fatal", "not=legal at all"} {
		for _, policy := range []func(*batchv1.Job){func(*batchv1.Job) {}, failurePolicy()} {
			plan := observeJob(ruleNames(names), policy).with("p", failedPod(42, time.Hour)).want(t, countOne)
			assert.Equal(t, len(plan.Findings.Violations), 0)
		}
	}
}

// PFN-13: names change the reason of one condition, and nothing else in any plan.
func TestNamesServeNoOtherPurpose(t *testing.T) {
	for _, exit := range []int32{1, 2, 3, 4} {
		job := func(names string) *observed {
			return observeJob(indexed(3, 3), perIndex(1), failurePolicy(onExit("FailJob", 1), onExit("Ignore", 2), onExit("FailIndex", 3)), ruleNames(names)).
				with("p", index(0), failedPod(exit, time.Hour)).with("q", index(1)).with("r", index(2), succeededPod(time.Hour))
		}
		plain, named := job(""), job("0=A;1=B;2=C")
		for stage := range 8 {
			a, b := plain.compute(), named.compute()
			if text := strings.ReplaceAll(planText(b), "PodFailurePolicy_A", "PodFailurePolicy_0"); text != planText(a) {
				t.Fatalf("exit %d, stage %d: %s\nnamed: %s", exit, stage, planText(a), planText(b))
			}
			if a.CreateReason != b.CreateReason || !reflect.DeepEqual(a.Create, b.Create) || a.Urgent != b.Urgent {
				t.Fatalf("exit %d, stage %d differ", exit, stage)
			}
			plain.carryOut(t, a)
			named.carryOut(t, b)
		}
	}
}

// PFN-25: an invalid annotation has no effect, delays nothing, and is reported with all violations.
func TestIllegalNamesHoldUpNothing(t *testing.T) {
	rules := []batchv1.PodFailurePolicyRule{onExit("FailJob", 1), onExit("Count", 2), onExit("FailJob", 3)}
	for value, want := range map[string]string{
		"0=Fine;2=exit-2":        `rule 2 "exit-2": '-' is not allowed`,
		"0=a;3=b;0=c":            "entry",
		"0=Same;2=Same":          "rule 2",
		strings.Repeat("x", 9e3): "bytes",
	} {
		o := observeJob(failurePolicy(rules...), ruleNames(value))
		plan := o.want(t, "create")
		f := plan.Findings
		if len(f.RuleNames) != 0 || len(f.Violations) == 0 || !strings.Contains(f.Violations[0].String(), want) {
			t.Errorf("%.20s: %q, %v", value, f.RuleNames, f.Violations)
		}
		_, reason, _ := fateOf(o.with("p", failedPod(1, time.Minute)).compute())
		assert.Equalf(t, reason, "PodFailurePolicy_0", "%.20s: reason", value)
	}
	if f := observeJob(failurePolicy(rules...), ruleNames("0=Fine")).compute().Findings; len(f.Violations) != 0 || f.RuleNames.Name(0) != "Fine" {
		t.Errorf("%q, %v", f.RuleNames, f.Violations)
	}
}

// PFN-27: a change of the annotation applies from the next evaluation on, but no longer once FailureTarget is stored.
func TestChangedNamesCountUntilFailureTarget(t *testing.T) {
	o := observeJob(failurePolicy(onExit("FailJob", 1)), ruleNames("0=Before")).with("p", failedPod(1, time.Minute))
	o.Job.Annotations[rulename.Annotation] = "0=Between"
	plan := o.compute()
	o.carryOut(t, plan)
	o.Job.Annotations[rulename.Annotation] = "0=After"
	for range 3 {
		plan = o.compute()
		o.carryOut(t, plan)
	}
	if got := statusText(&o.Job.Status); got != `active 0 terminating 0 succeeded 0 failed 1 completedIndexes "" FailureTarget=True/PodFailurePolicy_Between Failed=True/PodFailurePolicy_Between` {
		t.Error(got)
	}
}

// PFN-28: a name that the API server serves takes precedence over the annotation's, rule by rule.
func TestNativeNamesWin(t *testing.T) {
	for _, test := range []struct {
		native           []string
		annotation, want string
		exit             int32
	}{
		{[]string{"Native", ""}, "0=Noted;1=Other", "PodFailurePolicy_Native", 1},
		{[]string{"Native", ""}, "0=Noted;1=Other", "PodFailurePolicy_Other", 2},
		{[]string{"Native"}, "1=Other", "PodFailurePolicy_Other", 2},
		{nil, "0=Noted", "PodFailurePolicy_Noted", 1},
		{[]string{"", ""}, "0=Noted", "PodFailurePolicy_Noted", 1},
		{[]string{"Native", "Second"}, "", "PodFailurePolicy_Second", 2},
		{[]string{"Native"}, "0=not legal", "PodFailurePolicy_Native", 1},
		{[]string{"Native"}, "1=not legal", "PodFailurePolicy_1", 2},
		{[]string{"Native"}, "1=Native", "PodFailurePolicy_1", 2}, // together not unique
	} {
		o := observeJob(failurePolicy(onExit("FailJob", 1), onExit("FailJob", 2)), ruleNames(test.annotation)).with("p", failedPod(test.exit, time.Minute))
		o.RuleNames = test.native
		if _, reason, _ := fateOf(o.compute()); reason != test.want {
			t.Errorf("%s: %s, want %s", fmt.Sprint(test.native, test.annotation), reason, test.want)
		}
	}
}

// An ignored failure from before the last success delays nothing (JOB-18); the pod is still released.
// Requirements: PFP-06
func TestIgnoredFailureBeforeSuccess(t *testing.T) {
	plan := observeJob(sized(3, 1), failurePolicy(onExit("Ignore", 2))).
		with("old", failedPod(2, time.Hour)).with("good", succeededPod(time.Minute), untracked).with("new", failedPod(2, time.Second)).compute()
	for _, r := range plan.Release {
		if !r.Ignored || r.IgnoredFailure.IsZero() != (r.Name == "old") {
			t.Errorf("%+v", r)
		}
	}
	assert.Equal(t, len(plan.Release), 2, plan.Release)
}

// JOB-18, PRP-05: a pod that counts as failed since its deletion may still succeed. It does not count as a success, and
// the back-off continues.
func TestDeletedPodEndsNoBackoff(t *testing.T) {
	o := observeJob(stored(func(s *batchv1.JobStatus) { s.Failed = 1 }))
	o.Backoff = backoff.Record{Failures: 1, LastFailure: now.Add(-4 * time.Second)}
	o.with("p", deletedPod(4*time.Second), succeededPod(time.Second), untracked).want(t, "after 6s")
}
