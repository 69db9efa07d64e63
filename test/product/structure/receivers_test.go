package structure

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	for path, file := range code(t, everything...) {
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), root+"/")
		if strings.HasSuffix(file.Name.Name, "_test") { // External tests are in a package of their own.
			folder += "_test"
		}
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[folder+"."+receiverName(f.Recv.List[0].Type)]++
			}
		}
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
