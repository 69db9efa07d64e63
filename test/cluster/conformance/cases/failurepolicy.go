package cases

import (
	"encoding/json"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var failurePolicy = []suite.Case{
	{Name: "failure-policy-fail-job", Title: "The action FailJob fails the Job at once, with the reason PodFailurePolicy",
		Source: "KEP-3329, API", Requirements: []string{"PFP-07", "PFP-08", "PFP-09"}, Run: failJob},
	{Name: "failure-policy-ignore-code", Title: "A failure with an ignored exit code does not count, and the pod is replaced", Slow: true,
		Source: "KEP-3329, API", Requirements: []string{"PFP-05"}, Run: ignoreCode},
	{Name: "failure-policy-ignore-disruption", Title: "A disrupted pod does not count if DisruptionTarget is ignored", Slow: true,
		Source: "KEP-3329, User stories", Requirements: []string{"PFP-04", "PFP-05", "PFP-15"}, Run: ignoreDisruption},
	{Name: "failure-policy-first-rule", Title: "The first rule that matches decides",
		Source: "API: PodFailurePolicy.rules", Requirements: []string{"PFP-02", "PFP-07"}, Run: firstRule},
	{Name: "failure-policy-no-match", Title: "A failure that no rule matches counts",
		Source: "API: PodFailurePolicy.rules", Requirements: []string{"PFP-02"}, Run: noMatch},
	{Name: "failure-policy-not-in", Title: "The operator NotIn matches all failures but those with the listed exit codes",
		Source: "API: PodFailurePolicyOnExitCodesRequirement.operator", Requirements: []string{"PFP-03"}, Run: notIn},
	{Name: "failure-policy-rule-name", Title: "The reason has the name of the rule that failed the Job",
		Source: "KEP-4443, Business logic", Requirements: []string{"PFN-02", "PFN-03"}, Run: ruleName},
}

// untilFailedByPolicy waits until a rule fails the Job. KEP-4443 appends the name of the rule, or its index, to the
// reason.
func untilFailedByPolicy(t *suite.T, j *suite.Job) *batchv1.Job {
	target := j.Until(condition(batchv1.JobFailureTarget))
	reason := history.Condition(target, batchv1.JobFailureTarget).Reason
	if reason != batchv1.JobReasonPodFailurePolicy && !strings.HasPrefix(reason, batchv1.JobReasonPodFailurePolicy+"_") {
		t.Errorf("the reason of FailureTarget is PodFailurePolicy, or begins with PodFailurePolicy_ (KEP-4443)", "it is %s", reason)
	}
	return j.UntilFailed(reason)
}

func failJob(t *suite.T) {
	j := t.Create(all(2), backoffLimit(6), failureRules(onCode(batchv1.PodFailurePolicyActionFailJob, 42)))
	t.End(42, j.UntilRunning(2)[0])
	wantCounts(t, untilFailedByPolicy(t, j), 0, 2)
	wantReleased(t, j)
	wantPods(t, j, 2)
}

func ignoreCode(t *suite.T) {
	j := t.Create(backoffLimit(0), failureRules(onCode(batchv1.PodFailurePolicyActionIgnore, 43)))
	first := j.UntilRunning(1)[0]
	t.End(43, first)
	t.End(0, j.UntilRunning(1)...)
	wantCounts(t, j.UntilComplete(), 1, 0)
	wantPods(t, j, 2)
}

func ignoreDisruption(t *suite.T) {
	j := t.Create(backoffLimit(0), failureRules(onDisruption(batchv1.PodFailurePolicyActionIgnore)))
	first := j.UntilRunning(1)[0]
	t.Disrupt(first)
	t.DeletePods(first)
	t.UntilPodGone(first)
	t.End(0, j.UntilRunning(1)...)
	wantCounts(t, j.UntilComplete(), 1, 0)
	wantPods(t, j, 2)
}

func firstRule(t *suite.T) {
	j := t.Create(backoffLimit(0), failureRules(
		onCode(batchv1.PodFailurePolicyActionCount, 42), onCode(batchv1.PodFailurePolicyActionFailJob, 42),
	))
	t.End(42, j.UntilRunning(1)...)
	wantCounts(t, j.UntilFailed(batchv1.JobReasonBackoffLimitExceeded), 0, 1)
}

func noMatch(t *suite.T) {
	j := t.Create(backoffLimit(0), failureRules(onCode(batchv1.PodFailurePolicyActionFailJob, 42)))
	t.End(1, j.UntilRunning(1)...)
	wantCounts(t, j.UntilFailed(batchv1.JobReasonBackoffLimitExceeded), 0, 1)
}

func notIn(t *suite.T) {
	rule := onCode(batchv1.PodFailurePolicyActionFailJob, 40, 41)
	rule.OnExitCodes.Operator = batchv1.PodFailurePolicyOnExitCodesOpNotIn
	j := t.Create(all(2), backoffLimit(6), failureRules(rule))
	running := j.UntilRunning(2)
	t.End(40, running[0])
	j.Until(failures(1))
	suite.Equal(t, "the Job has FailureTarget", false, history.Is(j.Now(), batchv1.JobFailureTarget))
	t.End(42, running[1])
	wantAllFailed(t, j, untilFailedByPolicy(t, j), 2, running[0])
}

func ruleName(t *suite.T) {
	draft := t.Draft(backoffLimit(6), failureRules(onCode(batchv1.PodFailurePolicyActionFailJob, 42)))
	data, err := json.Marshal(draft)
	if err != nil {
		t.Fatalf("the Job can be encoded", "%v", err)
	}
	named := strings.Replace(string(data), `"rules":[{`, `"rules":[{"name":"BadConfig",`, 1)
	stored := &batchv1.Job{}
	// Our types lack the field, so the request is made by hand.
	err = t.Client.BatchV1().RESTClient().Post().Namespace(t.Namespace).Resource("jobs").Param("fieldValidation", metav1.FieldValidationStrict).
		Body([]byte(named)).SetHeader("Content-Type", "application/json").Do(t.Context()).Into(stored)
	switch {
	case apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "unknown field"):
		t.Skip("the API server has no field podFailurePolicy.rules[].name")
	case err != nil:
		t.Fatalf("creating the Job succeeds", "%v", err)
	}
	j := t.Adopt(stored)
	t.End(42, j.UntilRunning(1)...)
	j.UntilFailed(batchv1.JobReasonPodFailurePolicy + "_BadConfig")
}
