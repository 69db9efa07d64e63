package catalog

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the list of findings into docs/lint.md")

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
	const path, begin, end = "../../../docs/lint.md", "<!-- findings -->\n", "<!-- end of findings -->\n"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	listed, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no list of findings", path)
	}
	switch {
	case listed == tables():
	case *rewrite:
		if err := os.WriteFile(path, []byte(before+begin+tables()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("the list of findings in docs/lint.md is not that of the code; run: go test ./pkg/lint/catalog -rewrite")
	}
}
