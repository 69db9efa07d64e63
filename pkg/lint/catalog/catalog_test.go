package catalog

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// uses match the forms in which the code names the ID of a finding.
var uses = []*regexp.Regexp{
	regexp.MustCompile(`\b(?:reject|add|oneOf|checkLabels|checkTopologyKey|checkRelative)\((?:found, |(?:lint\.)?(?:Error|Warning|Info|severity), )?"([a-z0-9-]+)"`),
	regexp.MustCompile(`\bID: +"([a-z0-9-]+)"`),
	regexp.MustCompile(`(?m)^\t*(?:var \w+ = \[\]row\[int\]\{)?\{"([a-z0-9-]+)", (?:invalid|missing|notSupported|tooMany|tooLong|repeated), "`), // a row of a Job
	regexp.MustCompile(`[")], "([a-z0-9]+(?:-[a-z0-9]+)+)",\s+[a-zA-Z]`),                                                                        // a row of a table of apirules
	regexp.MustCompile(`(?m)^\t+\{.*, "([a-z0-9-]+)", [a-z]\w*\(`),
	regexp.MustCompile(`(?:\.as\(|enum\{)"([a-z0-9-]+)"`), // values of the schema
	regexp.MustCompile(`\b(?:id|id, fix, message|RuleMatchesSidecars|ignoreUnknown|serverRejects|serverWarns|MisspelledManagedBy|TemplateID) += "([a-z0-9-]+)"`),
}

// source returns the code of the packages that have checks.
func source(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, root := range []string{"..", "../../apirules", "../../../internal/cli/lint", "../../../internal/manifest", "../../../internal/cli/shared/manifests"} {
		if err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "catalog") {
				return err
			}
			data, err := os.ReadFile(path)
			all.Write(data)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// Requirements: LNT-04
func TestCatalogHasTheIDsOfTheCode(t *testing.T) {
	used := map[string]bool{}
	code := source(t)
	for _, pattern := range uses {
		for _, found := range pattern.FindAllStringSubmatch(code, -1) {
			used[found[1]] = used[found[1]] || !strings.HasSuffix(found[0], " func(") // the field of a row of a Job
		}
	}
	delete(used, "gang-too-large") // only the virtual API server reports these
	delete(used, "immutable")
	for id, is := range used {
		if is && !slices.ContainsFunc(Rules(), func(r Rule) bool { return r.ID == id }) {
			t.Errorf("the catalog lacks %s", id)
		}
	}
	for i, rule := range Rules() {
		if !used[rule.ID] {
			t.Errorf("no check has the ID %s", rule.ID)
		}
		if rule.Text == "" || strings.HasSuffix(rule.Text, ".") || i > 0 && Rules()[i-1].ID == rule.ID {
			t.Errorf("%+v", rule)
		}
	}
}
