// Package structure checks rules for the code that no linter checks.
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

const root = "../../.."

// worded are the fields and methods with texts written by this project.
var worded = []string{"Text", "Sentence", "Clauses", "Why", "WaitsFor", "Cause", "Meaning", "Progress", "Short", "Problem", "Fix", "What", "Note", "Hint", "Label", "Title"}

// readers are the functions of package strings that inspect a text, as regexps do.
var readers = []string{
	"Contains", "ContainsAny", "ContainsRune", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "Fields", "HasPrefix", "HasSuffix",
	"Index", "IndexAny", "LastIndex", "Replace", "ReplaceAll", "Split", "SplitN", "Trim", "TrimLeft", "TrimPrefix", "TrimRight", "TrimSuffix",
}

var regexpReaders = []string{"FindStringSubmatch", "FindStringSubmatchIndex", "FindString", "MatchString"}

// Code passes values, and forms sentences only for output: no code matches, cuts, or strips a sentence of this project
// (ADR 0008).
func TestNoSentenceIsReadBack(t *testing.T) {
	for _, dir := range []string{"cmd", "internal", "pkg"} {
		for path, file := range parse(t, filepath.Join(root, dir)) {
			for _, place := range readBack(file) {
				t.Errorf("%s: %s", path, place)
			}
		}
	}
}

// The check finds such code, and accepts other texts.
func TestReadBack(t *testing.T) {
	const code = `package p
func f(v V, name string) {
	strings.HasPrefix(v.Verdict.Sentence, "The Job")
	strings.Contains(strings.ToLower(p.Text), "quota")
	pattern.MatchString(c.Text())
	p.Cut(layout.Text(style, name), width)
	strings.HasPrefix(name, "Job")
	strings.Join(v.Clauses, "; ")
}`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", code, 0)
	assert.NoError(t, err)
	if got := readBack(file); !slices.Equal(got, []string{"HasPrefix looks into Sentence", "Contains looks into Text", "MatchString looks into Text"}) {
		t.Errorf("%q", got)
	}
}

// readBack returns the calls in a file that inspect texts of this project.
func readBack(file *ast.File) (places []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !isReader(f) {
			return true
		}
		for _, argument := range call.Args {
			ast.Inspect(argument, func(n ast.Node) bool {
				if field, ok := n.(*ast.SelectorExpr); ok && slices.Contains(worded, field.Sel.Name) {
					places = append(places, f.Sel.Name+" looks into "+field.Sel.Name)
				}
				return true
			})
		}
		return true
	})
	return places
}

func isReader(f *ast.SelectorExpr) bool {
	of, isName := f.X.(*ast.Ident)
	return isName && of.Name == "strings" && slices.Contains(readers, f.Sel.Name) || slices.Contains(regexpReaders, f.Sel.Name)
}

// parse parses the non-test files of a folder and returns them by path.
func parse(t *testing.T, dir string) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files[path], err = parser.ParseFile(token.NewFileSet(), path, nil, 0)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files in %s: %v", len(files), dir, err)
	}
	return files
}
