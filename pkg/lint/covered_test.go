package lint

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// triedRule is a rule for onExitCodes of a Job with the containers main and side.
type triedRule struct {
	container string // "" for any
	notIn     bool
	codes     []int
}

func (r triedRule) String() string {
	operator := map[bool]string{false: "In", true: "NotIn"}[r.notIn]
	name := ""
	if r.container != "" {
		name = "containerName: " + r.container + ", "
	}
	return exit("Count", fmt.Sprintf("%soperator: %s, values: [%s]", name, operator, strings.Trim(strings.ReplaceAll(fmt.Sprint(r.codes), " ", ", "), "[]")))
}

func (r triedRule) matches(pod map[string]int) bool {
	for container, code := range pod {
		if code != 0 && (r.container == "" || r.container == container) && slices.Contains(r.codes, code) != r.notIn {
			return true
		}
	}
	return false
}

// A rule is reported as never matching if and only if it is not the first matching rule for any pod. The codes 0 to 4
// cover all codes that the rules can distinguish, and one more.
// Requirements: PFP-02, PFP-03
func TestNeverMatchesAgainstAllPods(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var list []triedRule
		var texts []string
		for range rapid.IntRange(1, 4).Draw(rt, "rules") {
			rule := triedRule{container: rapid.SampledFrom([]string{"", "main", "side"}).Draw(rt, "container"), notIn: rapid.Bool().Draw(rt, "notIn")}
			rule.codes = rapid.SliceOfNDistinct(rapid.IntRange(1, 3), 1, 3, rapid.ID).Draw(rt, "codes")
			slices.Sort(rule.codes)
			list, texts = append(list, rule), append(texts, rule.String())
		}
		reached := map[int]bool{}
		for a := range 5 {
			for b := range 5 {
				if first := slices.IndexFunc(list, func(r triedRule) bool { return r.matches(map[string]int{"main": a, "side": b}) }); first >= 0 {
					reached[first] = true
				}
			}
		}
		output := look(t, base+"  "+rules+strings.Join(texts, another), nil)
		for i := range list {
			never := slices.Contains(output, fmt.Sprintf("warning rule-never-matches spec.podFailurePolicy.rules[%d]", i))
			if never == reached[i] {
				rt.Fatalf("rule %d of %q: never %v", i, texts, never)
			}
		}
	})
}

// A rule is reported as having no effect if and only if some earlier rule is met by every set of succeeded indexes that
// meets it.
// Requirements: SUC-06
func TestNeverFirstAgainstAllSuccesses(t *testing.T) {
	const all = 1<<5 - 1
	type tried struct{ listed, count int } // a bit for each index
	met := func(r tried, succeeded int) bool { return bits.OnesCount(uint(succeeded&r.listed)) >= r.count }
	rapid.Check(t, func(rt *rapid.T) {
		var list []tried
		var texts []string
		for range rapid.IntRange(1, 4).Draw(rt, "rules") {
			r := tried{listed: rapid.IntRange(1, all).Draw(rt, "listed")}
			r.count = rapid.IntRange(1, bits.OnesCount(uint(r.listed))).Draw(rt, "count")
			var indexes []string
			for i := range 5 {
				if r.listed&(1<<i) != 0 {
					indexes = append(indexes, fmt.Sprint(i))
				}
			}
			list = append(list, r)
			texts = append(texts, fmt.Sprintf("{succeededIndexes: %q, succeededCount: %d}", strings.Join(indexes, ","), r.count))
		}
		output := look(t, base+"  "+indexed+"successPolicy: {rules: ["+strings.Join(texts, ", ")+"]}", nil)
		for i, r := range list {
			covered := slices.ContainsFunc(list[:i], func(earlier tried) bool {
				for succeeded := range all + 1 {
					if met(r, succeeded) && !met(earlier, succeeded) {
						return false
					}
				}
				return true
			})
			if covered != slices.Contains(output, fmt.Sprintf("info success-rule-never-first spec.successPolicy.rules[%d]", i)) {
				rt.Fatalf("rule %d of %q: covered %v", i, texts, covered)
			}
		}
	})
}
