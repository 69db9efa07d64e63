// Package goldenfile compares what a test makes with a file, which -rewrite writes anew.
package goldenfile

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // Defines -rewrite.

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Rewrites reports whether the flag -rewrite is set.
func Rewrites() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// Compare compares a text with the file at path.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	if Rewrites() {
		assert.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	assert.NoError(t, err)
	if got != string(want) {
		t.Errorf("%s differs: run this test with -rewrite, and read the diff; got:\n%s", path, got)
	}
}

// CompareSection compares a text with the part of a page between two comments.
func CompareSection(t testing.TB, page, begin, end, got string) {
	t.Helper()
	text, err := os.ReadFile(page)
	assert.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin+"\n")
	section, after, ended := strings.Cut(rest, end+"\n")
	switch {
	case !found || !ended:
		t.Fatalf("%s has no %s", page, begin)
	case section == got:
	case Rewrites():
		assert.NoError(t, os.WriteFile(page, []byte(before+begin+"\n"+got+end+"\n"+after), 0o644))
	default:
		t.Errorf("%s, %s, is not up to date: run this test with -rewrite, and read the diff", page, begin)
	}
}
