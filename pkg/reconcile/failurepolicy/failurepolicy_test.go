package failurepolicy

import (
	"math"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

const (
	failJob   = batchv1.PodFailurePolicyActionFailJob
	failIndex = batchv1.PodFailurePolicyActionFailIndex
	ignore    = batchv1.PodFailurePolicyActionIgnore
	count     = batchv1.PodFailurePolicyActionCount

	opIn    = batchv1.PodFailurePolicyOnExitCodesOpIn
	opNotIn = batchv1.PodFailurePolicyOnExitCodesOpNotIn
)

type (
	rule    = batchv1.PodFailurePolicyRule
	pattern = batchv1.PodFailurePolicyOnPodConditionsPattern
)

func policyOf(rules ...rule) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: rules}
}

func onCodes(action batchv1.PodFailurePolicyAction, op batchv1.PodFailurePolicyOnExitCodesOperator, values ...int32) rule {
	return rule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: op, Values: values}}
}

func of(container string, r rule) rule {
	r.OnExitCodes.ContainerName = &container
	return r
}

func onConditions(action batchv1.PodFailurePolicyAction, patterns ...pattern) rule {
	return rule{Action: action, OnPodConditions: patterns}
}

func exited(codes ...int32) Pod {
	var pod Pod
	for i, code := range codes {
		pod.Containers = append(pod.Containers, Container{Name: string(rune('a' + i)), ExitCode: code})
	}
	return pod
}

func disrupted(status corev1.ConditionStatus) Pod {
	return Pod{Conditions: []Condition{{corev1.PodReady, corev1.ConditionFalse}, {corev1.DisruptionTarget, status}}}
}

// evaluation is a policy, a pod, and the result.
type evaluation struct {
	policy    *batchv1.PodFailurePolicy
	pod       Pod
	failIndex bool
	want      Match
}

func passed(whys ...Why) []Passed {
	var out []Passed
	for i, why := range whys {
		out = append(out, Passed{int32(i), why})
	}
	return out
}

func none(whys ...Why) Match { return Match{Rule: NoRule, Passed: passed(whys...)} }

func byCode(action batchv1.PodFailurePolicyAction, container string, code int32, whys ...Why) Match {
	return Match{Rule: int32(len(whys)), Action: action, Container: container, ExitCode: code, Passed: passed(whys...)}
}

func byCondition(action batchv1.PodFailurePolicyAction, condition corev1.PodConditionType, whys ...Why) Match {
	return Match{Rule: int32(len(whys)), Action: action, Condition: condition, Passed: passed(whys...)}
}

func check(t *testing.T, table map[string]evaluation) {
	t.Helper()
	for name, e := range table {
		got := Evaluate(e.policy, e.pod, e.failIndex)
		assert.DeepEqual(t, got, e.want, name)
		assert.Equalf(t, got.Matched(), (e.want.Rule >= 0), "%s: Matched", name)
	}
}

// PFP-02: the first rule that matches applies; unknown actions and operators do not match.
func TestFirstMatchingRuleApplies(t *testing.T) {
	bare := rule{Action: failJob}
	emptyList := onConditions(failJob)
	emptyList.OnPodConditions = []pattern{}
	both := onCodes(failJob, opIn, 7)
	both.OnPodConditions = []pattern{{Type: corev1.DisruptionTarget}}
	check(t, map[string]evaluation{
		"no policy":                         {nil, exited(1), true, none()},
		"no rules":                          {policyOf(), exited(1), true, none()},
		"first rule":                        {policyOf(onCodes(count, opIn, 1)), exited(1), true, byCode(count, "a", 1)},
		"second rule":                       {policyOf(onCodes(count, opIn, 2), onCodes(ignore, opIn, 1)), exited(1), true, byCode(ignore, "a", 1, CodeNotListed)},
		"no rule":                           {policyOf(onCodes(count, opIn, 2), onCodes(ignore, opIn, 3)), exited(1), true, none(CodeNotListed, CodeNotListed)},
		"unknown action":                    {policyOf(onCodes("Explode", opIn, 1), onCodes(failJob, opIn, 1)), exited(1), true, byCode(failJob, "a", 1, UnknownAction)},
		"no action":                         {policyOf(onCodes("", opIn, 1)), exited(1), true, none(UnknownAction)},
		"unknown operator":                  {policyOf(onCodes(failJob, "Near", 1), onCodes(failJob, opIn, 1)), exited(1), true, byCode(failJob, "a", 1, UnknownOperator)},
		"unknown operator, code not listed": {policyOf(onCodes(failJob, "Near", 2)), exited(1), true, none(UnknownOperator)},
		"no requirement":                    {policyOf(bare, onCodes(count, opIn, 1)), exited(1), true, byCode(count, "a", 1, NoRequirement)},
		"empty list of conditions":          {policyOf(emptyList), disrupted(corev1.ConditionTrue), true, none(NoRequirement)},
		"both requirements: codes":          {policyOf(both), disrupted(corev1.ConditionTrue), true, none(NoFailedContainer)},
	})
}

// BLI-34, PFP-02: without backoffLimitPerIndex, FailIndex rules are ignored.
func TestFailIndexUnavailable(t *testing.T) {
	policy := policyOf(onCodes(failIndex, opIn, 1), onCodes(failJob, opIn, 1))
	check(t, map[string]evaluation{
		"available":     {policy, exited(1), true, byCode(failIndex, "a", 1)},
		"not available": {policy, exited(1), false, byCode(failJob, "a", 1, ActionUnavailable)},
		"nothing else":  {policyOf(policy.Rules[0]), exited(1), false, none(ActionUnavailable)},
		"on conditions": {policyOf(onConditions(failIndex, pattern{Type: corev1.DisruptionTarget})), disrupted(corev1.ConditionTrue), false, none(ActionUnavailable)},
	})
}

// PFP-03: the evidence for onExitCodes.
func TestExitCodesMatchTerminatedContainers(t *testing.T) {
	check(t, map[string]evaluation{
		"In, listed":              {policyOf(onCodes(failJob, opIn, 1, 2, 3)), exited(2), true, byCode(failJob, "a", 2)},
		"In, first value":         {policyOf(onCodes(failJob, opIn, 1, 2, 3)), exited(1), true, byCode(failJob, "a", 1)},
		"In, last value":          {policyOf(onCodes(failJob, opIn, 1, 2, 3)), exited(3), true, byCode(failJob, "a", 3)},
		"In, values out of order": {policyOf(onCodes(failJob, opIn, 9, 3, 3, 1)), exited(1), true, byCode(failJob, "a", 1)},
		"In, not listed":          {policyOf(onCodes(failJob, opIn, 1, 2, 3)), exited(4), true, none(CodeNotListed)},
		"NotIn, not listed":       {policyOf(onCodes(failJob, opNotIn, 1, 2)), exited(4), true, byCode(failJob, "a", 4)},
		"NotIn, listed":           {policyOf(onCodes(failJob, opNotIn, 1, 2)), exited(2), true, none(CodesListed)},
		"In, exit code 0":         {policyOf(onCodes(failJob, opIn, 0, 1)), exited(0), true, none(NoFailedContainer)},
		"NotIn, exit code 0":      {policyOf(onCodes(failJob, opNotIn, 1)), exited(0), true, none(NoFailedContainer)},
		"NotIn 0, exit code 0":    {policyOf(onCodes(failJob, opNotIn, 0)), exited(0), true, none(NoFailedContainer)},
		"no container ended":      {policyOf(onCodes(failJob, opNotIn, 1)), Pod{}, true, none(NoFailedContainer)},
		"negative code":           {policyOf(onCodes(failJob, opIn, -1, 1)), exited(-1), true, byCode(failJob, "a", -1)},
		"largest code":            {policyOf(onCodes(failJob, opIn, math.MaxInt32)), exited(math.MaxInt32), true, byCode(failJob, "a", math.MaxInt32)},
		"first of two containers": {policyOf(onCodes(failJob, opIn, 1, 2)), exited(2, 1), true, byCode(failJob, "a", 2)},
		"second container":        {policyOf(onCodes(failJob, opIn, 1)), exited(2, 1), true, byCode(failJob, "b", 1)},
		"first succeeded, NotIn":  {policyOf(onCodes(failJob, opNotIn, 2)), exited(0, 2, 3), true, byCode(failJob, "c", 3)},
		"named":                   {policyOf(of("b", onCodes(failJob, opIn, 1))), exited(1, 1), true, byCode(failJob, "b", 1)},
		"named, NotIn":            {policyOf(of("b", onCodes(failJob, opNotIn, 1))), exited(2, 3), true, byCode(failJob, "b", 3)},
		"named, other code":       {policyOf(of("b", onCodes(failJob, opIn, 1))), exited(1, 2), true, none(CodeNotListed)},
		"named, NotIn, listed":    {policyOf(of("b", onCodes(failJob, opNotIn, 1))), exited(2, 1), true, none(CodesListed)},
		"named, succeeded":        {policyOf(of("b", onCodes(failJob, opNotIn, 1))), exited(2, 0), true, none(NamedContainerNotFailed)},
		"named, did not end":      {policyOf(of("x", onCodes(failJob, opIn, 1))), exited(1), true, none(NamedContainerNotFailed)},
	})
}

// PFP-04: the evidence for onPodConditions.
func TestPodConditionsMatchTypeAndStatus(t *testing.T) {
	target := func(status corev1.ConditionStatus) *batchv1.PodFailurePolicy {
		return policyOf(onConditions(ignore, pattern{Type: "Other"}, pattern{Type: corev1.DisruptionTarget, Status: status}))
	}
	matched := byCondition(ignore, corev1.DisruptionTarget)
	check(t, map[string]evaluation{
		"True":                  {target(corev1.ConditionTrue), disrupted(corev1.ConditionTrue), true, matched},
		"default, True":         {target(""), disrupted(corev1.ConditionTrue), true, matched},
		"default, False":        {target(""), disrupted(corev1.ConditionFalse), true, none(NoCondition)},
		"default, empty":        {target(""), disrupted(""), true, none(NoCondition)},
		"False":                 {target(corev1.ConditionFalse), disrupted(corev1.ConditionFalse), true, matched},
		"False, True":           {target(corev1.ConditionFalse), disrupted(corev1.ConditionTrue), true, none(NoCondition)},
		"Unknown":               {target(corev1.ConditionUnknown), disrupted(corev1.ConditionUnknown), true, matched},
		"other type":            {policyOf(onConditions(ignore, pattern{Type: "Other"})), disrupted(corev1.ConditionTrue), true, none(NoCondition)},
		"no conditions":         {target(""), exited(1), true, none(NoCondition)},
		"the pod's first names": {policyOf(onConditions(ignore, pattern{Type: corev1.DisruptionTarget}, pattern{Type: corev1.PodReady, Status: corev1.ConditionFalse})), disrupted(corev1.ConditionTrue), true, byCondition(ignore, corev1.PodReady)},
	})
}

// PFN-04: a later FailJob rule that also matches has no effect.
func TestLaterRulesAddNothing(t *testing.T) {
	pod := exited(1)
	pod.Conditions = disrupted(corev1.ConditionTrue).Conditions
	codes, conditions := onCodes(failJob, opIn, 1), onConditions(failJob, pattern{Type: corev1.DisruptionTarget})
	check(t, map[string]evaluation{
		"codes first":      {policyOf(onCodes(count, opIn, 1), codes, conditions), pod, true, byCode(count, "a", 1)},
		"conditions first": {policyOf(onConditions(ignore, pattern{Type: corev1.DisruptionTarget}), conditions, codes), pod, true, byCondition(ignore, corev1.DisruptionTarget)},
	})
}

// PFP-10, PFN-08: the message of the built-in controller. It contains no rule name: the type of a rule has none.
func TestMessageHasTheBuiltinWords(t *testing.T) {
	for _, c := range []struct {
		match Match
		want  string
	}{
		{byCode(failJob, "main", 42), "Container main for pod default/my-job-0 failed with exit code 42 matching FailJob rule at index 0"},
		{byCode(failIndex, "main", -3, CodeNotListed, CodesListed), "Container main for pod default/my-job-0 failed with exit code -3 matching FailIndex rule at index 2"},
		{byCondition(failJob, corev1.DisruptionTarget, CodeNotListed), "Pod default/my-job-0 has condition DisruptionTarget matching FailJob rule at index 1"},
		{byCondition(ignore, "example.com/Custom"), "Pod default/my-job-0 has condition example.com/Custom matching Ignore rule at index 0"},
		{none(CodeNotListed), ""},
	} {
		assert.Equal(t, c.match.Message("default", "my-job-0"), c.want)
	}
}

func TestWhyHasWords(t *testing.T) {
	seen := map[string]Why{}
	for why := ActionUnavailable; why <= NoCondition; why++ {
		text := why.String()
		if strings.HasPrefix(text, "Why(") || seen[text] != 0 {
			t.Errorf("%d: %q", uint8(why), text)
		}
		seen[text] = why
	}
	for why, want := range map[Why]string{0: "Why(0)", 200: "Why(200)"} {
		assert.Equal(t, why.String(), want)
	}
}

// largest returns the largest policy that the API server accepts (PFP-12), for pods of 10 containers, of which the last
// ends with a code that only the last rule lists.
func largest() (policy *batchv1.PodFailurePolicy, matching, other Pod) {
	policy = &batchv1.PodFailurePolicy{}
	for i := range int32(20) {
		values := make([]int32, 255)
		for n := range values {
			values[n] = 1000*i + int32(n) + 1
		}
		policy.Rules = append(policy.Rules, onCodes(failJob, opIn, values...))
	}
	codes := []int32{-1, -1, -1, -1, -1, -1, -1, -1, -1}
	return policy, exited(append(codes[:9:9], 19255)...), exited(append(codes[:9:9], -1)...)
}

// Requirements: PFN-33
func TestAllocatesThePassedRulesOnly(t *testing.T) {
	policy, matching, other := largest()
	first := policyOf(policy.Rules[19])
	for name, c := range map[string]struct {
		policy *batchv1.PodFailurePolicy
		pod    Pod
		most   int64
	}{"last rule": {policy, matching, 1}, "no rule": {policy, other, 1}, "first rule": {first, matching, 0}} {
		t.Run(name, func(t *testing.T) {
			measure.CheckAllocations(t, c.most, func() { Evaluate(c.policy, c.pod, true) })
		})
	}
}

// PFN-33: the cost of one failed pod with ten containers under the largest policy.
func BenchmarkEvaluate(b *testing.B) {
	policy, matching, other := largest()
	for _, c := range []struct {
		name string
		pod  Pod
		want int32
	}{{"last rule matches", matching, 19}, {"no rule matches", other, NoRule}, {"one container", exited(-1), NoRule}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if m := Evaluate(policy, c.pod, true); m.Rule != c.want {
					b.Fatal(m.Rule)
				}
			}
		})
	}
}
