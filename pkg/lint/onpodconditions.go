package lint

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

const maxPatterns = 20

func checkOnPodConditions(r *review) {
	rules := r.rules()
	for i := range rules {
		patterns, path := rules[i].OnPodConditions, r.rulePath(i).Child("onPodConditions")
		if n := len(patterns); n > maxPatterns {
			r.reject("too-many-conditions", path, "split it into two rules", "there are %d conditions, but at most %d are allowed", n, maxPatterns)
		}
		for j, p := range patterns {
			if problems := validation.IsQualifiedName(string(p.Type)); len(problems) > 0 {
				r.reject("condition-type-invalid", path.Index(j).Child("type"), "use the type of a pod condition, such as DisruptionTarget",
					"the condition type %q is not allowed: %s", p.Type, problems[0])
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
			r.neverMatches(i, fmt.Sprintf("rule %d", earlier))
		}
	}
}

func statusOf(p batchv1.PodFailurePolicyOnPodConditionsPattern) corev1.ConditionStatus {
	if p.Status == "" {
		return corev1.ConditionTrue
	}
	return p.Status
}

func (r *review) neverMatches(rule int, earlier string) {
	r.add(Warning, "rule-never-matches", r.rulePath(rule), "move the rule up, or remove it",
		"rule %d never matches: only the first matching rule counts, and %s matches the same pods before it", rule, earlier)
}
