package lint

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func checkPodFailurePolicy(r *review) {
	if r.spec.PodFailurePolicy != nil && len(r.rules()) == 0 {
		r.add(Info, "no-rules", r.specPath("podFailurePolicy", "rules"), "add rules, or remove podFailurePolicy",
			"without rules, podFailurePolicy has only one effect: a pod is replaced when it has failed, not when it starts to terminate")
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
		transient := rules[i].OnExitCodes == nil && len(rules[i].OnPodConditions) > 0 && !slices.ContainsFunc(rules[i].OnPodConditions,
			func(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool { return c.Type != corev1.DisruptionTarget })
		if rules[i].Action == batchv1.PodFailurePolicyActionIgnore && !transient {
			r.add(Info, "ignored-for-ever", r.rulePath(i), "add activeDeadlineSeconds, or use the action Count",
				"pods that keep failing like this are replaced forever: ignored failures do not count toward any limit")
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
		if n := len(rules[i].OnPodConditions); n > 0 && covered == n && rules[i].OnExitCodes == nil && earlier != i {
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
