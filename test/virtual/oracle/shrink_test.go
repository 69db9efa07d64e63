package oracle

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/cases"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/differences"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// shrink removes the parts of a case that its difference does not need.
func shrink(c *model.Case, seed uint64) *model.Case {
	settled := isSettled(c, seed)
	for range 40 {
		simpler := cases.Simpler(c)
		smaller := slices.IndexFunc(simpler, func(s *model.Case) bool {
			if settled && !isSettled(s, seed) {
				return false
			}
			_, err := judge(s, seed)
			return err != nil
		})
		if smaller < 0 {
			break
		}
		c = simpler[smaller]
	}
	return c
}

// isSettled reports whether the outcome of a case seems not to depend on the pace.
func isSettled(c *model.Case, seed uint64) bool {
	first, err := model.Run(c, differences.Documented(), model.NewPace(seed, 0))
	if err != nil {
		return false
	}
	for n := 1; n < 20; n++ {
		if other, err := model.Run(c, differences.Documented(), model.NewPace(seed, n)); err != nil || !same(first, other) {
			return false
		}
	}
	return true
}

// describe returns a readable description of a case.
func describe(c *model.Case) string {
	var b strings.Builder
	text, err := yaml.Marshal(c.Spec)
	if err != nil {
		panic(err)
	}
	b.Write(text)
	fmt.Fprintf(&b, "held: %v, rule names: %q\n", c.Held, c.RuleNames)
	for _, f := range c.Scripts {
		fmt.Fprintf(&b, "pod %+v\n", f)
	}
	for _, e := range c.Edits {
		fmt.Fprintf(&b, "%v: %s %d\n", e.At, e.Action, e.Value)
	}
	return b.String()
}

// report describes the outcomes of both sides.
func report(c *model.Case, seed uint64) string {
	got, err := ours(c, seed)
	out := fmt.Sprintf("%s\nthe same whatever the pace: %v\nours:    %s %v\n", describe(c), isSettled(c, seed), show(got), err)
	for n := range 2 {
		want, err := model.Run(c, differences.Documented(), model.NewPace(seed, n))
		out += fmt.Sprintf("model %d: %s %v\n", n, show(want), err)
	}
	return out
}

func show(o model.Outcome) string {
	return strings.ReplaceAll(fmt.Sprintf("%+v", o), "2562047h47m16.854775807s", "never")
}
