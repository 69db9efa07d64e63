package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
)

// tables lists all rules for docs/lint.md, by severity.
func tables() string {
	var b strings.Builder
	for _, severity := range []string{"error", "warning", "info"} {
		fmt.Fprintf(&b, "\n### %ss\n\n| ID | |\n|---|---|\n", strings.ToUpper(severity[:1])+severity[1:])
		for _, rule := range Rules() {
			if rule.Severity == severity {
				fmt.Fprintf(&b, "| `%s` | %s |\n", rule.ID, rule.Text)
			}
		}
	}
	return b.String() + "\n"
}

// Requirements: LNT-04
func TestDocumentationListsAllFindings(t *testing.T) {
	goldenfile.CompareSection(t, "../../../docs/lint.md", "<!-- findings -->", "<!-- end of findings -->", tables())
}
