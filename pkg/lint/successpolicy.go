package lint

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

func (r *review) successRules() []batchv1.SuccessPolicyRule {
	if r.spec.SuccessPolicy == nil || !r.isIndexed() {
		return nil
	}
	return r.spec.SuccessPolicy.Rules
}

func (r *review) successPath(i int) *field.Path { return r.specPath("successPolicy", "rules").Index(i) }

func checkSuccessPolicy(r *review) {
	if r.spec.SuccessPolicy != nil && !r.isIndexed() {
		r.reject("success-without-indexes", r.specPath("successPolicy"), "set completionMode: Indexed, or remove successPolicy", "successPolicy needs an Indexed Job")
	}
}

func checkSuccessRules(r *review) {
	completions, known := r.completions()
	rules := r.successRules()
	for i := range rules {
		if known && rules[i].SucceededIndexes != nil {
			text, path := *rules[i].SucceededIndexes, r.successPath(i).Child("succeededIndexes")
			switch _, problem := readIndexes(text, completions); {
			case len(text) > jobspec.MaxSucceededIndexes:
				r.reject("indexes-too-long", path, "use intervals, such as 0-99", "%d bytes long, but at most %d are allowed", len(text), jobspec.MaxSucceededIndexes)
			case problem != "":
				r.reject("indexes-invalid", path, "use increasing indexes and intervals below completions, such as 0,3-5", "%s", problem)
			case text == "":
				r.add(Warning, "success-rule-never-met", path, "list indexes, or remove succeededIndexes", "the rule is never met: it lists no index")
			}
		}
		if known && rules[i].SucceededCount != nil {
			r.checkSucceededCount(&rules[i], r.successPath(i).Child("succeededCount"), completions)
		}
	}
}

func (r *review) checkSucceededCount(rule *batchv1.SuccessPolicyRule, path *field.Path, completions int32) {
	count := *rule.SucceededCount
	const fix = "lower succeededCount"
	switch {
	case count > completions:
		r.reject("success-count-too-high", path, fix, "succeededCount is %d, but there are only %d indexes", count, completions)
	case rule.SucceededIndexes != nil:
		if listed, problem := readIndexes(*rule.SucceededIndexes, completions); problem == "" && int(count) > listed.Len() {
			r.reject("success-count-too-high", path, fix+", or list more indexes", "succeededCount is %d, but the rule lists only %d indexes", count, listed.Len())
		}
	}
}

// readIndexes parses succeededIndexes like the API server, which accepts +3 and 03 as 3. The problem names the
// fragment.
func readIndexes(text string, completions int32) (indexset.Set, string) {
	var intervals []indexset.Interval
	last := int32(-1)
	for fragment := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		interval, problem := readInterval(fragment, completions)
		if problem == "" && interval.First <= last {
			problem = fmt.Sprintf("indexes must increase, but %d is not above %d", interval.First, last)
		}
		if problem != "" {
			return indexset.Set{}, fmt.Sprintf("%q: %s", shorten(fragment), problem)
		}
		intervals, last = append(intervals, interval), interval.Last
	}
	return indexset.OfIntervals(intervals...), ""
}

func readInterval(fragment string, completions int32) (indexset.Interval, string) {
	first, last, isInterval := strings.Cut(fragment, "-")
	if !isInterval {
		last = first
	}
	var ends [2]int32
	for i, text := range [...]string{first, last} {
		n, err := strconv.Atoi(text)
		if err != nil {
			return indexset.Interval{}, "neither an index nor an interval (first-last)"
		}
		if n >= int(completions) {
			return indexset.Interval{}, fmt.Sprintf("there is no index %d; the last one is %d", n, completions-1)
		}
		ends[i] = int32(n)
	}
	if isInterval && ends[0] >= ends[1] {
		return indexset.Interval{}, "an interval must start below its end"
	}
	return indexset.Interval{First: ends[0], Last: ends[1]}, ""
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
		listed, problem := readIndexes(*rule.SucceededIndexes, completions)
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
