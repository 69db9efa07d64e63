package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// regression is a row of docs/internals/requirements.md about a bug of the built-in controller.
type regression struct{ id, sentence, source string }

// regressionsIn returns the rows of the family REG.
func regressionsIn(requirements string) (list []regression) {
	for _, m := range regexp.MustCompile(`(?m)^\| (REG-\d\d) \| (.+) \| (.+) \|$`).FindAllStringSubmatch(requirements, -1) {
		list = append(list, regression{m[1], m[2], m[3]})
	}
	return list
}

// knownBugs returns the table of the built-in controller's known bugs and the tests that find them, followed by the
// total number of planted bugs.
func knownBugs(regressions []regression, mutants []mutant, results []result) string {
	var b strings.Builder
	b.WriteString("| bug | upstream | planted as | what finds it first |\n|---|---|---|---|\n")
	for _, r := range regressions {
		var titles, finders []string
		for _, m := range mutants {
			if slices.Contains(strings.Fields(m.ids), r.id) {
				titles, finders = append(titles, m.title), append(finders, finder(m, results))
			}
		}
		fmt.Fprintf(&b, "| %s %s | %s | %s | %s |\n", r.id, r.sentence, r.source, cell(titles), cell(slices.Compact(finders)))
	}
	b.WriteString("\n" + others(mutants, results))
	return b.String()
}

func cell(lines []string) string {
	if len(lines) == 0 {
		return "–"
	}
	return strings.Join(lines, "<br>")
}

// finder returns the test that found a bug, and its package.
func finder(m mutant, results []result) string {
	r, planted := resultOf(m.name(), results)
	switch {
	case !planted:
		return "not run yet"
	case !r.Caught:
		return "**nothing**: " + r.By
	}
	pkg, test := r.finder()
	return fmt.Sprintf("`%s` %s", strings.ReplaceAll(test, "|", `\|`), pkg)
}

// others counts all planted bugs, by the package whose tests found them.
func others(mutants []mutant, results []result) string {
	planted, caught, found := 0, 0, map[string]int{}
	for _, m := range mutants {
		r, isPlanted := resultOf(m.name(), results)
		if !isPlanted {
			continue
		}
		planted++
		if r.Caught {
			caught++
			pkg, _ := r.finder()
			found[pkg]++
		}
	}
	out := fmt.Sprintf("The last run planted %d of %d bugs, these and others, and tests found %d of them", planted, len(mutants), caught)
	var parts []string
	for _, pkg := range []string{"pkg/reconcile", "pkg/observe", "pkg/controller", "pkg/sim", "test/virtual/prove", "test/virtual/storm"} {
		if n := found[pkg]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d in %s", n, pkg))
		}
	}
	if len(parts) > 0 {
		out += ": " + strings.Join(parts, ", ")
	}
	return out + ".\n"
}

// result is the result of testing one bug.
type result struct {
	Bug    string `json:"bug"`
	Caught bool   `json:"caught"`
	// By is the package and the test that failed first, or the reason why no test failed.
	By string `json:"by"`
}

// finder returns the package and the test that caught the bug.
func (r result) finder() (pkg, test string) {
	pkg, test, _ = strings.Cut(r.By, ": ")
	return strings.TrimSuffix(strings.TrimPrefix(pkg, "./"), "/..."), test
}

// resultOf returns the result of a bug, if it was planted.
func resultOf(bug string, list []result) (_ result, planted bool) {
	at := slices.IndexFunc(list, func(r result) bool { return r.Bug == bug })
	if at < 0 {
		return result{}, false
	}
	return list[at], true
}

// results are written into a file after each bug, if there is a file.
type results struct {
	file string
	list []result
}

func (r *results) add(one result) error {
	r.list = append(r.list, one)
	if r.file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r.list, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.file, append(text, '\n'), 0o600)
}

// proved returns the table of the worlds in which make prove finds bugs, and of the bugs outside of all worlds, by
// reason.
func proved(mutants []mutant) string {
	in, outside, found := map[string]int{}, map[string][]string{}, 0
	for _, m := range mutants {
		if m.world == "" {
			outside[m.outside] = append(outside[m.outside], m.title)
			continue
		}
		in[m.world]++
		found++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Of %d bugs, it finds %d alone:\n\n| world | bugs |\n|---|---:|\n", len(mutants), found)
	for _, world := range slices.SortedFunc(maps.Keys(in), func(a, b string) int { return cmp.Or(in[b]-in[a], strings.Compare(a, b)) }) {
		fmt.Fprintf(&b, "| %s | %d |\n", world, in[world])
	}
	fmt.Fprintf(&b, "\nThe other %d are outside of its worlds:\n\n| what it would take | bugs |\n|---|---|\n", len(mutants)-found)
	for _, why := range slices.SortedFunc(maps.Keys(outside), func(a, b string) int {
		return cmp.Or(len(outside[b])-len(outside[a]), strings.Compare(a, b))
	}) {
		fmt.Fprintf(&b, "| %s | %s |\n", why, strings.Join(outside[why], "<br>"))
	}
	return b.String()
}
