package rules

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: SUC-04..07, PFP-02
func TestRulesOfPoliciesAreReadInThePlainestWay(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{}
	job.Status.CompletedIndexes = "1,3,5"
	for what, c := range map[string]struct {
		rules []batchv1.SuccessPolicyRule
		want  int
	}{
		"indexes":             {[]batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("1-3")}, {SucceededIndexes: ptr.To("1,3")}}, 1},
		"count":               {[]batchv1.SuccessPolicyRule{{SucceededCount: ptr.To[int32](4)}, {SucceededCount: ptr.To[int32](3)}}, 1},
		"count of indexes":    {[]batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("1-4"), SucceededCount: ptr.To[int32](3)}}, -1},
		"enough of indexes":   {[]batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("1-4"), SucceededCount: ptr.To[int32](2)}}, 0},
		"no such indexes":     {[]batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("3-1"), SucceededCount: ptr.To[int32](0)}}, -1},
		"no indexes, a count": {[]batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To(""), SucceededCount: ptr.To[int32](0)}}, -1},
	} {
		job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: c.rules}
		assert.Equalf(t, MetRule(job.Spec.SuccessPolicy, Completed(&job.Status)), c.want, "%s: rule", what)
	}
	job.Status.CompletedIndexes = ""
	job.Spec.SuccessPolicy.Rules = []batchv1.SuccessPolicyRule{{SucceededCount: ptr.To[int32](0)}}
	if got := MetRule(job.Spec.SuccessPolicy, Completed(&job.Status)); got != -1 {
		t.Errorf("nothing has succeeded, and it is rule %d that is met", got)
	}
	job.Spec.SuccessPolicy, job.Status.CompletedIndexes = nil, "1"
	if got := MetRule(job.Spec.SuccessPolicy, Completed(&job.Status)); got != -1 {
		t.Errorf("there is no policy, and it is rule %d that is met", got)
	}
	ended := func(name string, exit int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit}}}
	}
	pod := &corev1.Pod{}
	pod.Status.Phase = corev1.PodFailed
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "running"}, ended("done", 0), ended("main", 42)}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	exits := func(op batchv1.PodFailurePolicyOnExitCodesOperator, container *string, codes ...int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionCount, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: container, Operator: op, Values: codes,
		}}
	}
	for what, c := range map[string]struct {
		rule    batchv1.PodFailurePolicyRule
		matches bool
	}{
		"in":              {exits(batchv1.PodFailurePolicyOnExitCodesOpIn, nil, 1, 42), true},
		"in others":       {exits(batchv1.PodFailurePolicyOnExitCodesOpIn, nil, 1), false},
		"not in others":   {exits(batchv1.PodFailurePolicyOnExitCodesOpNotIn, nil, 1), true},
		"not in":          {exits(batchv1.PodFailurePolicyOnExitCodesOpNotIn, nil, 42), false},
		"other container": {exits(batchv1.PodFailurePolicyOnExitCodesOpIn, ptr.To("other"), 42), false},
		"condition": {batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionCount, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
		}}, true},
		"other status": {batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionCount, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse},
		}}, false},
		"per index": {batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionFailIndex, OnExitCodes: exits(batchv1.PodFailurePolicyOnExitCodesOpIn, nil, 42).OnExitCodes}, false},
	} {
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{c.rule}}
		if _, rule := MatchedRule(job.Spec.PodFailurePolicy, pod, false); (rule == 0) != c.matches {
			t.Errorf("%s: rule %d", what, rule)
		}
	}
}
