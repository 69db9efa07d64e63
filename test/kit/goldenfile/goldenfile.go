// Package goldenfile compares what a test makes with a file, which -rewrite writes anew. Tests that use datadriven or clitest have
// a flag of that name already, and cannot use this package.
package goldenfile

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew; read the diff")

// Rewriting reports whether the files are written anew.
func Rewriting() bool { return *rewrite }

// Compare compares a text with the file at path.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	if *rewrite {
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
	case *rewrite:
		assert.NoError(t, os.WriteFile(page, []byte(before+begin+"\n"+got+end+"\n"+after), 0o644))
	default:
		t.Errorf("%s, %s, is not up to date: run this test with -rewrite, and read the diff", page, begin)
	}
}
