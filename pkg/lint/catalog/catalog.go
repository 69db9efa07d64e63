// Package catalog lists the kinds of findings of lint, by ID, with their meaning; the IDs are stable. A test compares
// the list with the code. It is the source for reports to other programs, and for the documentation.
package catalog

import (
	_ "embed" // the table
	"slices"
	"strings"
)

// Rule is a kind of finding.
type Rule struct {
	ID string
	// Severity is error, warning or info; the most serious for a rule with several.
	Severity string
	// Text describes the problem, in one sentence without a period.
	Text string
}

// findings has a line "ID: text" for each kind, after a line with its severity.
//
//go:embed findings.txt
var findings string

// Rules returns all kinds of findings, sorted by ID.
func Rules() []Rule {
	var rules []Rule
	severity := ""
	for line := range strings.Lines(findings) {
		if id, text, found := strings.Cut(strings.TrimSpace(line), ": "); found {
			rules = append(rules, Rule{ID: id, Severity: severity, Text: text})
		} else if name, found := strings.CutPrefix(id, "# "); found {
			severity = name
		}
	}
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	return rules
}
