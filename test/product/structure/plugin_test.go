package structure

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A binary that can load Go plugins keeps every method of every type, used or not: 18 MB more (ADR 0015).
func TestNothingLoadsGoPlugins(t *testing.T) {
	makefile, err := os.ReadFile(root + "/Makefile")
	assert.NoError(t, err)
	tags := regexp.MustCompile(`(?m)^TAGS := (.+)$`).FindSubmatch(makefile)
	if tags == nil {
		t.Fatal("the Makefile has no TAGS")
	}
	list := exec.Command("go", "list", "-deps", "-tags", string(tags[1]), "./cmd/kubectl-batchjob")
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	assert.NoError(t, err)
	if packages := strings.Fields(string(out)); slices.Contains(packages, "plugin") || len(packages) < 100 {
		t.Errorf("of %d packages one imports plugin; see: go list -deps -f '{{.ImportPath}} {{.Imports}}'", len(packages))
	}
}
