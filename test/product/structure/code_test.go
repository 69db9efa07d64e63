// Package structure checks rules for the code that no linter checks.
package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const root = "../../.."

// everything are the folders with code.
var everything = []string{"cmd", "config", "hack", "internal", "pkg", "test"}

// files holds the parsed files of all folders with code, by path.
var files = sync.OnceValues(func() (map[string]*ast.File, error) {
	all := map[string]*ast.File{}
	for _, dir := range everything {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") {
				all[path], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
})

// code returns the files below some folders of the project, by path, and fails for a folder without any.
func code(t *testing.T, folders ...string) map[string]*ast.File {
	t.Helper()
	all, err := files()
	assert.NoError(t, err)
	found := map[string]*ast.File{}
	for _, folder := range folders {
		before := len(found)
		for path, file := range all {
			if strings.HasPrefix(path, filepath.Join(root, folder)+"/") {
				found[path] = file
			}
		}
		if len(found) == before {
			t.Fatalf("no code in %s", folder)
		}
	}
	return found
}

func isTest(path string) bool { return strings.HasSuffix(path, "_test.go") }

// parsed returns a file with this text.
func parsed(t *testing.T, text string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.ParseComments)
	assert.NoError(t, err)
	return file
}
