package lint

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

func checkPodFailurePolicy(r *review) {
	if r.spec.PodFailurePolicy == nil {
		return
	}
	path := r.specPath("podFailurePolicy", "rules")
	switch n := len(r.rules()); {
	case n == 0:
		r.add(Info, "no-rules", path, "add rules, or remove podFailurePolicy",
			"without rules, podFailurePolicy has only one effect: a pod is replaced when it has failed, not when it starts to terminate")
	case n > rulename.MaxRules:
		r.reject("too-many-rules", path, "combine rules with the same action", "there are %d rules, but at most %d are allowed", n, rulename.MaxRules)
	}
}

func checkRules(r *review) {
	rules := r.rules()
	for i := range rules {
		rule, path := &rules[i], r.rulePath(i)
		r.oneOf("action-unknown", path.Child("action"), string(rule.Action), string(batchv1.PodFailurePolicyActionFailJob), string(batchv1.PodFailurePolicyActionFailIndex),
			string(batchv1.PodFailurePolicyActionIgnore), string(batchv1.PodFailurePolicyActionCount))
		if rule.Action == batchv1.PodFailurePolicyActionFailIndex && r.spec.BackoffLimitPerIndex == nil {
			r.reject("fail-index-without-limit", path.Child("action"), "add backoffLimitPerIndex to the Job's spec, or use FailJob", "FailIndex needs backoffLimitPerIndex")
		}
		switch n := len(requirementsOf(rule)); {
		case n > 1:
			r.reject("two-requirements", path, "split it into two rules", "a rule must have either onExitCodes or onPodConditions")
		case n == 0:
			r.reject("no-requirement", path, "add onExitCodes or onPodConditions", "the rule does not specify when it applies")
		}
	}
}

// checkIgnoreForever finds rules that may ignore failures forever: they count toward no limit, so that only a deadline
// ends a Job whose pods keep failing like that. Disruptions are exempt: they do not last.
func checkIgnoreForever(r *review) {
	if r.spec.ActiveDeadlineSeconds != nil {
		return
	}
	rules := r.rules()
	for i := range rules {
		if rules[i].Action == batchv1.PodFailurePolicyActionIgnore && !onlyDisruptions(&rules[i]) {
			r.add(Info, "ignored-for-ever", r.rulePath(i), "add activeDeadlineSeconds, or use the action Count",
				"pods that keep failing like this are replaced forever: ignored failures do not count toward any limit")
		}
	}
}

// requirementsOf returns the requirements of a rule, by the names of their fields. The API server allows only one.
func requirementsOf(rule *batchv1.PodFailurePolicyRule) (fields []string) {
	if rule.OnExitCodes != nil {
		fields = append(fields, "onExitCodes")
	}
	if len(rule.OnPodConditions) > 0 {
		fields = append(fields, "onPodConditions")
	}
	return fields
}

func onlyDisruptions(rule *batchv1.PodFailurePolicyRule) bool {
	other := func(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool { return p.Type != corev1.DisruptionTarget }
	return len(requirementsOf(rule)) == 1 && len(rule.OnPodConditions) > 0 && !slices.ContainsFunc(rule.OnPodConditions, other)
}

func checkPodReplacementPolicy(r *review) {
	policy, path := r.spec.PodReplacementPolicy, r.specPath("podReplacementPolicy")
	if policy == nil {
		return
	}
	if r.spec.PodFailurePolicy != nil && *policy == batchv1.TerminatingOrFailed {
		r.reject("replacement-with-failure-policy", path, "use Failed, or remove the field", "with podFailurePolicy, a pod is replaced only when it has failed")
		return
	}
	r.oneOf("replacement-unknown", path, string(*policy), string(batchv1.Failed), string(batchv1.TerminatingOrFailed))
}
