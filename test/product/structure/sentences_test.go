package structure

import (
	"go/ast"
	"slices"
	"testing"
)

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
	for path, file := range code(t, "cmd", "internal", "pkg") {
		for _, place := range readBack(file) {
			if !isTest(path) {
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
	if got := readBack(parsed(t, code)); !slices.Equal(got, []string{"HasPrefix looks into Sentence", "Contains looks into Text", "MatchString looks into Text"}) {
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
