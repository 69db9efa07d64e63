package main

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
)

const allOfREGs = 33

// TestDocumentationHasTheKnownBugs compares the tables in docs/internals/proof with the results of the last run, which
// make mutants-doc saves, and with the bugs that make prove finds. -rewrite updates the tables.
// Requirements: STO-06
func TestDocumentationHasTheKnownBugs(t *testing.T) {
	requirements, err := os.ReadFile("../../docs/internals/requirements.md")
	assert.NoError(t, err)
	mutants, err := parse(text)
	assert.NoError(t, err)
	saved, err := os.ReadFile("results.json")
	assert.NoError(t, err)
	var known []result
	assert.NoError(t, json.Unmarshal(saved, &known))
	regressions := regressionsIn(string(requirements))
	assert.Equal(t, len(regressions), allOfREGs)
	subtle, err := readTable("subtle.txt")
	assert.NoError(t, err)
	hasTable(t, "../../docs/internals/proof/known-bugs.md", "known bugs", knownBugs(regressions, mutants, known))
	hasTable(t, "../../docs/internals/proof/interleavings.md", "proved bugs", proved(slices.Concat(mutants, subtle)))
}

// hasTable fails if the page has a different table, or rewrites the page.
func hasTable(t *testing.T, page, name, table string) {
	t.Helper()
	goldenfile.CompareSection(t, page, "<!-- "+name+" -->", "<!-- end of the "+name+" -->", table)
}

// Requirements: STO-06
func TestTableHasWhatFoundEachBug(t *testing.T) {
	file := t.TempDir() + "/results.json"
	r := results{file: file}
	for _, one := range []result{{"REG-01: a", true, "./pkg/sim: TestA"}, {"REG-03: c", false, "all tests pass"}} {
		assert.NoError(t, r.add(one))
	}
	saved, err := os.ReadFile(file)
	assert.NoError(t, err)
	var list []result
	assert.NoError(t, json.Unmarshal(saved, &list))
	mutants := []mutant{{ids: "REG-01", title: "a"}, {ids: "REG-03", title: "c"}, {ids: "REG-04", title: "d"}}
	table := knownBugs([]regression{{"REG-01", "One", "#1"}, {"REG-03", "Three", "#3"}, {"REG-04", "Four", "#4"}, {"REG-05", "Five", "#5"}}, mutants, list)
	for _, want := range []string{
		"| REG-01 One | #1 | a | `TestA` pkg/sim |", "| REG-03 Three | #3 | c | **nothing**: all tests pass |", "| REG-04 Four | #4 | d | not run yet |",
		"| REG-05 Five | #5 | – | – |", "The last run planted 2 of 3 bugs, these and others, and tests found 1 of them: 1 in pkg/sim.",
	} {
		assert.Contains(t, table, want)
	}
}
