package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dialect are phrases that define a name by a pronoun, or by a verb of the theater, where a noun or the field's term belongs.
var dialect = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	"(is|are|was|were) (that|those) of", "(is|are) what (is|are)", "(those|that|the ones?) of before", "of before",
	"is known of", "known of it", "tells? (of|nothing)", "told of", "returns? (one|some) that", "returns? (that|those) of", "has those",
	"with (that|those) of", "lets? go", "hands? over", "hands? on", "sa(ys|id) of", "what(ever)? there is", "is felt", "takes? for", "taken for",
	"somebody", "nobody else", "those who",
}, "|") + `)\b`)

// Comments say what a thing is, with a noun: readers do not know us. CONTRIBUTING has examples.
func TestCommentsAreInPlainWords(t *testing.T) {
	for _, dir := range []string{"cmd", "internal", "pkg", "test", "hack"} {
		files := 0
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") {
				return err
			}
			files++
			for _, phrase := range dialectOf(parseComments(t, path, nil)) {
				t.Errorf("%s: a comment has %q: name the thing", path, phrase)
			}
			return nil
		})
		if err != nil || files == 0 {
			t.Errorf("%s: %d files, %v", dir, files, err)
		}
	}
}

// parseComments parses a file; text, if not nil, is its content.
func parseComments(t *testing.T, path string, text any) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// dialectOf returns the phrases in the comments of a file.
func dialectOf(file *ast.File) (phrases []string) {
	for _, group := range file.Comments {
		text := strings.Join(strings.Fields(group.Text()), " ")
		phrases = append(phrases, dialect.FindAllString(text, -1)...)
	}
	return phrases
}

// The rule finds what it is for, and leaves other texts alone.
func TestDialectOf(t *testing.T) {
	for comment, want := range map[string][]string{
		"situation is that of\n// the Job.":                   {"is that of"},
		"NewLink returns one that calls changed.":             {"returns one that"},
		"next lets go of what is known of it.":                {"lets go", "is known of"},
		"NewLink returns a Link that calls changed.":          nil,
		"It reports whether one that failed is in the list.":  nil,
		"The pods that failed, and those that the Job needs.": nil,
	} {
		if got := dialectOf(parseComments(t, "p.go", "package p\n\n// "+comment+"\nvar x int\n")); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", comment, got, want)
		}
	}
}
