package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// methodsAtMost is the maximum number of methods of a type, tests included. Every method may use every field: a type
// with more methods has more than one purpose, and some of the methods could be functions of a few fields.
const methodsAtMost = 40

// largeReceivers are the types that may have more methods for now. The test fails for a listed type that no longer has
// more, so that it is removed from the list.
var largeReceivers = []string{
	// A helper of all tests on a real API server; there will be fewer of them.
	"test/cluster/integration.fixture",
}

func TestReceiversHaveFewMethods(t *testing.T) {
	methods := map[string]int{}
	for _, dir := range []string{"cmd", "config", "hack", "internal", "pkg", "test"} {
		countMethods(t, dir, methods)
	}
	for receiver, n := range methods {
		if n > methodsAtMost && !slices.Contains(largeReceivers, receiver) {
			t.Errorf("%s has %d methods, more than %d: make those that use few fields functions, or move fields that belong together to a type of their own",
				receiver, n, methodsAtMost)
		}
	}
	for _, receiver := range largeReceivers {
		if n := methods[receiver]; n <= methodsAtMost {
			t.Errorf("%s has only %d methods: remove it from largeReceivers", receiver, n)
		}
	}
	if len(methods) < 500 {
		t.Errorf("only %d types with methods found", len(methods))
	}
}

// countMethods adds the numbers of methods of the types below a folder, by package and type.
func countMethods(t *testing.T, dir string, methods map[string]int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		// External tests are in a package of their own.
		if strings.HasSuffix(file.Name.Name, "_test") {
			folder += "_test"
		}
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[filepath.ToSlash(folder)+"."+receiverName(f.Recv.List[0].Type)]++
			}
		}
		return nil
	})
	assert.NoError(t, err, dir)
}

// receiverName returns the type's name in (r T), (r *T) and (r *T[P]).
func receiverName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
