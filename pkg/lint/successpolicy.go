package lint

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

func (r *review) successRules() []batchv1.SuccessPolicyRule {
	if r.spec.SuccessPolicy == nil || !r.isIndexed() {
		return nil
	}
	return r.spec.SuccessPolicy.Rules
}

func (r *review) successPath(i int) *field.Path { return r.specPath("successPolicy", "rules").Index(i) }

// checkSuccessRules finds rules that list no index.
func checkSuccessRules(r *review) {
	for i, rule := range r.successRules() {
		if _, known := r.completions(); known && rule.SucceededIndexes != nil && *rule.SucceededIndexes == "" {
			r.add(Warning, "success-rule-never-met", r.successPath(i).Child("succeededIndexes"), "list indexes, or remove succeededIndexes", "the rule is never met: it lists no index")
		}
	}
}

// goal is the criterion of a success rule: a number of successes among indexes.
type goal struct {
	of   indexset.Set
	need int
}

// goalOf returns the goal of a rule; false for a rule that is invalid or can never be met.
func goalOf(rule *batchv1.SuccessPolicyRule, completions int32) (goal, bool) {
	g := goal{of: indexset.Below(completions)}
	if rule.SucceededIndexes != nil {
		listed, problem := apirules.ReadIndexes(*rule.SucceededIndexes, completions)
		if problem != "" {
			return goal{}, false
		}
		g.of = listed
	}
	g.need = g.of.Len()
	if rule.SucceededCount != nil {
		g.need = max(int(*rule.SucceededCount), 1) // a Job without any success never succeeds (D-03)
	} else if rule.SucceededIndexes == nil {
		return goal{}, false
	}
	return g, g.need > 0 && g.need <= g.of.Len()
}

// implies reports whether h is met whenever g is, even if as few as possible of the successes that g needs are among
// h's indexes.
func (g goal) implies(h goal) bool {
	return g.need-g.of.Difference(h.of).Len() >= h.need
}

// checkSuccessRulesCovered finds rules that never end the Job, because an earlier rule is always met first.
func checkSuccessRulesCovered(r *review) {
	completions, known := r.completions()
	if !known {
		return
	}
	var goals []goal
	var rules []int
	for i, rule := range r.successRules() {
		g, ok := goalOf(&rule, completions)
		if !ok {
			continue
		}
		for at, earlier := range goals {
			if g.implies(earlier) {
				r.add(Info, "success-rule-never-first", r.successPath(i), "remove the rule, or move it up",
					"rule %d is met whenever this one is, so this rule has no effect", rules[at])
				break
			}
		}
		goals, rules = append(goals, g), append(rules, i)
	}
}
