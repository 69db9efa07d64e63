package lint

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

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

// checkIgnoreForever finds rules that may ignore failures forever: they count toward no limit, so that only a deadline
// ends a Job whose pods keep failing like that. Disruptions are exempt: they do not last.
func checkIgnoreForever(r *review) {
	if r.spec.ActiveDeadlineSeconds != nil {
		return
	}
	rules := r.rules()
	for i := range rules {
		transient := len(requirementsOf(&rules[i])) == 1 && len(rules[i].OnPodConditions) > 0 && !slices.ContainsFunc(rules[i].OnPodConditions,
			func(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool { return c.Type != corev1.DisruptionTarget })
		if rules[i].Action == batchv1.PodFailurePolicyActionIgnore && !transient {
			r.add(Info, "ignored-for-ever", r.rulePath(i), "add activeDeadlineSeconds, or use the action Count",
				"pods that keep failing like this are replaced forever: ignored failures do not count toward any limit")
		}
	}
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

const maxPatterns = 20

func checkOnPodConditions(r *review) {
	rules := r.rules()
	for i := range rules {
		patterns, path := rules[i].OnPodConditions, r.rulePath(i).Child("onPodConditions")
		if n := len(patterns); n > maxPatterns {
			r.reject("too-many-conditions", path, "split it into two rules", "there are %d conditions, but at most %d are allowed", n, maxPatterns)
		}
		for j, p := range patterns {
			if len(validation.IsQualifiedName(string(p.Type))) > 0 {
				r.reject("condition-type-invalid", path.Index(j).Child("type"), "use the type of a pod condition, such as DisruptionTarget",
					"the condition type %q is not allowed", shorten(string(p.Type)))
			}
			if p.Status != "" { // the API server defaults it to True
				r.oneOf("condition-status-unknown", path.Index(j).Child("status"), string(p.Status),
					string(corev1.ConditionTrue), string(corev1.ConditionFalse), string(corev1.ConditionUnknown))
			}
		}
	}
}

// checkConditionsCovered finds conditions that an earlier rule, or the same rule, already contains.
func checkConditionsCovered(r *review) {
	type pattern struct{ kind, status string }
	first := map[pattern]int{}
	rules := r.rules()
	for i := range rules {
		covered, earlier := 0, -1
		for _, p := range rules[i].OnPodConditions {
			key := pattern{string(p.Type), string(statusOf(p))}
			if rule, found := first[key]; found {
				covered, earlier = covered+1, rule
				if rule == i || len(rules[i].OnPodConditions) > 1 {
					r.add(Info, "condition-never-reached", r.rulePath(i).Child("onPodConditions"), "remove it",
						"rule %d already matches the condition %s=%s", rule, key.kind, key.status)
				}
				continue
			}
			first[key] = i
		}
		if n := len(rules[i].OnPodConditions); n > 0 && covered == n && len(requirementsOf(&rules[i])) == 1 && earlier != i {
			r.addNeverMatches(i, fmt.Sprintf("rule %d", earlier))
		}
	}
}

func statusOf(p batchv1.PodFailurePolicyOnPodConditionsPattern) corev1.ConditionStatus {
	if p.Status == "" {
		return corev1.ConditionTrue
	}
	return p.Status
}

func (r *review) addNeverMatches(rule int, earlier string) {
	r.add(Warning, "rule-never-matches", r.rulePath(rule), "move the rule up, or remove it",
		"rule %d never matches: only the first matching rule counts, and %s matches the same pods before it", rule, earlier)
}
