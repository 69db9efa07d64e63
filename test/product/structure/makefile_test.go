package structure

import (
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// variable returns the words of a Makefile variable.
func variable(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	assert.NoError(t, err)
	_, value, found := strings.Cut(strings.ReplaceAll(string(text), "\\\n", " "), "\n"+name+" := ")
	if !found {
		t.Fatalf("the Makefile has no variable %s", name)
	}
	value, _, _ = strings.Cut(value, "\n")
	return strings.Fields(value)
}

// make test-race leaves out packages without concurrent code.
func TestSequentialPackagesStartNoGoroutines(t *testing.T) {
	for _, pattern := range variable(t, "SEQUENTIAL") {
		dir, recursive := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
		for path, file := range code(t, dir) {
			if isTest(path) || !recursive && filepath.Dir(path) != filepath.Join(root, dir) {
				continue
			}
			for _, what := range concurrency(file) {
				t.Errorf("%s has %s: take %s from SEQUENTIAL in the Makefile", path, what, pattern)
			}
		}
	}
}

// The tests that make test-race leaves out by name exist.
func TestTestsWithoutTheRaceDetectorExist(t *testing.T) {
	missing := strings.Split(variable(t, "ONE_GOROUTINE")[0], "|")
	for _, file := range code(t, "cmd", "internal", "pkg") {
		for _, d := range file.Decls {
			if f, isFunction := d.(*ast.FuncDecl); isFunction {
				missing = slices.DeleteFunc(missing, func(name string) bool { return name == f.Name.Name })
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("no test has the name %s: correct ONE_GOROUTINE in the Makefile", strings.Join(missing, ", "))
	}
}

// concurrency returns the constructs in a file that only concurrent code needs. Values that are made once, on first use,
// do not count: package sync tests those.
func concurrency(file *ast.File) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, "a go statement")
		case *ast.ImportSpec:
			if path := strings.Trim(n.Path.Value, `"`); slices.Contains([]string{"sync/atomic", "golang.org/x/sync/errgroup"}, path) {
				found = append(found, path)
			}
		case *ast.SelectorExpr:
			if x, isName := n.X.(*ast.Ident); isName && x.Name == "sync" && !strings.HasPrefix(n.Sel.Name, "Once") {
				found = append(found, "sync."+n.Sel.Name)
			}
		}
		return true
	})
	return found
}

// make test-race runs the integration tests beside kube-controller-manager, selected by their names.
func TestTestsBesideTheBuiltinControllerAreRun(t *testing.T) {
	chosen := regexp.MustCompile(strings.Join(variable(t, "CONCURRENT"), " "))
	files, err := filepath.Glob(filepath.Join(root, "test", "cluster", "integration", "*_test.go"))
	assert.NoError(t, err)
	test, tests := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`), 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		assert.NoError(t, err)
		if !strings.HasPrefix(string(text), "//go:build builtin\n") {
			continue
		}
		for _, m := range test.FindAllStringSubmatch(string(text), -1) {
			if tests++; !chosen.MatchString(m[1]) {
				t.Errorf("%s: make test-race does not run %s", path, m[1])
			}
		}
	}
	if tests == 0 {
		t.Error("no test has the build tag builtin")
	}
}

// A binary that can load Go plugins keeps every method of every type, used or not: 18 MB more (ADR 0015).
func TestNothingLoadsGoPlugins(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-tags", strings.Join(variable(t, "TAGS"), " "), "./cmd/kubectl-batchjob")
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	assert.NoError(t, err)
	if packages := strings.Fields(string(out)); slices.Contains(packages, "plugin") || len(packages) < 100 {
		t.Errorf("of %d packages one imports plugin; see: go list -deps -f '{{.ImportPath}} {{.Imports}}'", len(packages))
	}
}

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
	assert.SlicesEqual(t, jobs, steps, "the workflow runs")
	for _, target := range read("Makefile", `(?m)^presubmit: (test .*) ##`) {
		if !slices.Contains(steps, target) {
			t.Errorf("CI does not run make %s, a part of make presubmit", target)
		}
	}
}
