package structure

import (
	"go/ast"
	"slices"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// measures are the functions that measure the process, and with it everything that happens to run beside a test.
var measures = []string{"runtime.ReadMemStats", "runtime.NumGoroutine", "testing.AllocsPerRun", "syscall.Getrusage", "metrics.Read", "measure.Live"}

// Tests measure nothing that depends on how busy the machine is: they count, and leave limits to test/kit/measure.
func TestOnlyBenchmarksMeasureTheProcess(t *testing.T) {
	for path, file := range code(t, everything...) {
		if isTest(path) {
			for _, call := range measuresOf(file) {
				t.Errorf("%s calls %s outside of a benchmark: count, or use test/kit/measure", path, call)
			}
		}
	}
}

// measuresOf returns the measures in a file, except in benchmarks, and in files with the build tag measure.
func measuresOf(file *ast.File) (calls []string) {
	if len(file.Comments) > 0 && file.Comments[0].List[0].Text == "//go:build measure" {
		return nil
	}
	for _, declaration := range file.Decls {
		if f, isFunc := declaration.(*ast.FuncDecl); isFunc && isForBenchmarks(f) {
			continue
		}
		ast.Inspect(declaration, func(n ast.Node) bool {
			if call := selected(n); slices.Contains(measures, call) {
				calls = append(calls, call)
			}
			return true
		})
	}
	return calls
}

// isForBenchmarks reports whether a function has a parameter of type *testing.B.
func isForBenchmarks(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(field *ast.Field) bool {
		pointer, isPointer := field.Type.(*ast.StarExpr)
		return isPointer && selected(pointer.X) == "testing.B"
	})
}

// selected returns "x.y" for such an expression, and "" for other nodes.
func selected(n ast.Node) string {
	if s, isSelector := n.(*ast.SelectorExpr); isSelector {
		if x, isName := s.X.(*ast.Ident); isName {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// The rule finds measures in tests and their helpers, and leaves benchmarks and tagged files alone.
func TestMeasuresOf(t *testing.T) {
	for text, want := range map[string][]string{
		"package p\nfunc TestX(t *testing.T) { runtime.ReadMemStats(&m) }":                         {"runtime.ReadMemStats"},
		"package p\nfunc count() int { return runtime.NumGoroutine() }":                            {"runtime.NumGoroutine"},
		"package p\nvar allocs = testing.AllocsPerRun":                                             {"testing.AllocsPerRun"},
		"package p\nfunc BenchmarkX(b *testing.B) { measure.Live() }":                              nil,
		"package p\nfunc used(b *testing.B) { syscall.Getrusage(0, nil) }":                         nil,
		"//go:build measure\n\npackage p\nfunc TestX(t *testing.T) { measure.Live() }":             nil,
		"//go:build !race\n\npackage p\nfunc TestX(t *testing.T) { measure.Live() }":               {"measure.Live"},
		"package p\nfunc TestX(t *testing.T) { measure.CheckAllocated(t, 9, f); measure.Size(1) }": nil,
	} {
		assert.SlicesEqual(t, measuresOf(parsed(t, text)), want, text)
	}
}
