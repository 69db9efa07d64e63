// Package requirements compares docs/internals/requirements.md with the ids that occur in the project: in code, tests, scenarios
// and documentation.
package requirements

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const (
	root = "../../../.."
	list = "docs/internals/requirements.md"
)

// requirement is a line of the list.
type requirement struct{ id, sentence string }

// row matches a line of the tables: id, sentence, source.
var row = regexp.MustCompile(`^\| ([A-Z]+-?[0-9]+) \| (.+) \| .+ \|$`)

func listed(t *testing.T) []requirement {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, list))
	assert.NoError(t, err)
	var all []requirement
	for line := range strings.Lines(string(data)) {
		if m := row.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			all = append(all, requirement{id: m[1], sentence: m[2]})
		}
	}
	if len(all) < 300 {
		t.Fatalf("%s lists %d requirements", list, len(all))
	}
	return all
}

// use is the first place that names an id, and whether a test names it.
type use struct {
	where  string
	tested bool
}

// uses returns the ids that occur in the project's files.
var uses = sync.OnceValues(func() (map[string]use, error) {
	ids := map[string]use{}
	err := eachFile(func(name string, text []byte) {
		number := 0
		for line := range bytes.Lines(text) {
			if number++; !bytes.ContainsAny(line, "0123456789") {
				continue
			}
			for _, id := range idsIn(string(line)) {
				u, known := ids[id]
				if !known {
					u.where = fmt.Sprintf("%s:%d", name, number)
				}
				u.tested = u.tested || isTest(name)
				ids[id] = u
			}
		}
	})
	return ids, err
})

func usedIDs(t *testing.T) map[string]use {
	t.Helper()
	ids, err := uses()
	assert.NoError(t, err)
	return ids
}

// isTest reports whether the file is a test or data for tests. The tests of this package are excluded: they name ids as
// examples.
func isTest(name string) bool {
	return !strings.HasPrefix(name, "test/product/docs/requirements/") &&
		(strings.HasPrefix(name, "test/") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/testdata/"))
}

// eachFile calls do with the text files of the project.
func eachFile(do func(name string, text []byte)) error {
	return filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		switch {
		case entry.IsDir() && file != root && (strings.HasPrefix(base, ".") || base == "bin" || base == "dist"):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || !namesIDs(base):
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		do(filepath.ToSlash(name), text)
		return err
	})
}

// namesIDs reports whether files with this name may contain ids. Scenarios and the Makefile have no extension.
func namesIDs(base string) bool {
	return base != "LICENSE" && slices.Contains([]string{"", ".go", ".md", ".sh", ".txtar", ".yaml"}, filepath.Ext(base))
}

func TestIDsInUseAreListed(t *testing.T) {
	known := map[string]bool{}
	for _, r := range listed(t) {
		known[r.id] = true
	}
	for id, use := range usedIDs(t) {
		if !known[id] {
			t.Errorf("%s: %s is not in %s", use.where, id, list)
		}
	}
}

// untested precedes the reason why no test covers a requirement.
const untested = "No test: "

func TestListedIDsAreTested(t *testing.T) {
	used := usedIDs(t)
	for _, r := range listed(t) {
		_, reason, excused := strings.Cut(r.sentence, untested)
		switch tested := used[r.id].tested; {
		case !tested && !excused:
			t.Errorf("no test names %s: %s", r.id, r.sentence)
		case tested && excused:
			t.Errorf("%s is tested, and %s says %q", r.id, list, untested+reason)
		}
	}
}

// Each id is listed once and in numerical order within its family.
func TestListIsInOrder(t *testing.T) {
	var before string
	seen := map[string]bool{}
	for _, r := range listed(t) {
		family := strings.TrimRight(r.id, "0123456789")
		switch {
		case !slices.Equal(idsIn(r.id), []string{r.id}):
			t.Errorf("%s is no id", r.id)
		case seen[r.id]:
			t.Errorf("%s is there twice", r.id)
		case strings.HasPrefix(before, family) && (len(r.id) < len(before) || len(r.id) == len(before) && r.id < before):
			t.Errorf("%s comes after %s", r.id, before)
		}
		seen[r.id], before = true, r.id
	}
}
