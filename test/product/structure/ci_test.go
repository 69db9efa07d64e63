package structure

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The jobs of the workflow run the steps of .ci/run side by side, so that a failure does not hide those of other steps.
func TestEveryStepOfCIIsAJob(t *testing.T) {
	read := func(path, pattern string) []string {
		text, err := os.ReadFile(filepath.Join(root, path))
		assert.NoError(t, err)
		m := regexp.MustCompile(pattern).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s has nothing like %s", path, pattern)
		}
		return strings.Fields(string(m[1]))
	}
	steps := read(".ci/run", `(?m)^steps=\(controlplane (.*)\)$`)
	jobs := read(".github/workflows/ci.yaml", `(?s)target:\n((?: +- [^\n]+\n)+)`)
	jobs = slices.DeleteFunc(jobs, func(word string) bool { return word == "-" || word == "snapshot" })
	if !slices.Equal(jobs, steps) {
		t.Errorf("the workflow runs %v, .ci/run %v", jobs, steps)
	}
	for _, target := range read("Makefile", `(?m)^presubmit: (test .*) ##`) {
		if !slices.Contains(steps, target) {
			t.Errorf("CI does not run make %s, a part of make presubmit", target)
		}
	}
}
