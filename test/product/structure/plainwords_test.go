package structure

import (
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// vague are phrases that define a thing by a pronoun, or by a verb of the theater, where a noun or the field's term belongs.
var vague = []string{
	"(is|are|was|were) (that|those) of", "(is|are) what (is|are)", "(those|that|the ones?) of before", "of before",
	"is known of", "known of it", "tells? (of|nothing)", "told of", "returns? (one|some) that", "returns? (that|those) of", "has those",
	"with (that|those) of", "lets? go", "hands? over", "hands? on", "sa(ys|id) of", "what(ever)? there is", "is felt", "takes? for", "taken for",
	"somebody", "nobody else", "those who",
}

// vagueInText are more such phrases, which our pages had too often.
var vagueInText = []string{
	"nobody", "everybody", "anybody", "other people's", "of ours", "told", "anew", "all the same", "what follows", "without end",
	"(gets?|got|gives?|is) no answer", "c[ao]mes? through", "to label (it|one)", "go(es)? on", "went on", "mends?", "excuse[sd]?",
}

var (
	dialect       = anyOf(vague)
	dialectOfText = anyOf(slices.Concat(vague, vagueInText))
)

// anyOf returns an expression that matches each of the expressions as whole words.
func anyOf(expressions []string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(` + strings.Join(expressions, "|") + `)\b`)
}

// Comments say what a thing is, with a noun: readers do not know us. CONTRIBUTING has examples.
func TestCommentsAreInPlainWords(t *testing.T) {
	for path, file := range code(t, everything...) {
		for _, phrase := range dialectOf(file) {
			t.Errorf("%s: a comment has %q: name the thing", path, phrase)
		}
	}
}

// dialectOf returns the phrases in the comments of a file.
func dialectOf(file *ast.File) (phrases []string) {
	for _, group := range file.Comments {
		text := strings.Join(strings.Fields(group.Text()), " ")
		phrases = append(phrases, dialect.FindAllString(text, -1)...)
	}
	return phrases
}

// Pages are in plain words, too.
func TestPagesAreInPlainWords(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (path != root && strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"testdata", "bin", "dist"}, entry.Name())) {
			return filepath.SkipDir
		}
		// The requirements are quoted elsewhere, by their sentences.
		if filepath.Ext(path) != ".md" || entry.Name() == "requirements.md" {
			return nil
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, phrase := range dialectOfPage(string(page)) {
			t.Errorf("%s has %q: name the thing", path, phrase)
		}
		return nil
	})
	if err != nil || files < 50 {
		t.Errorf("%d files, %v", files, err)
	}
}

// dialectOfPage returns the phrases in the prose of a Markdown file: not in code, in the addresses of links, or in generated text,
// which has a comment around it, or at the top of the page.
func dialectOfPage(page string) []string {
	if strings.Contains(page, "Do not edit. -->") {
		return nil
	}
	page = regexp.MustCompile("(?s)<!-- ([a-z ]+) -->\n.*?<!-- end of [a-z ]+ -->").ReplaceAllString(page, "")
	page = regexp.MustCompile("(?ms)^```.*?^```$|`[^`]*`|<!--.*?-->|\\]\\([^)]*\\)").ReplaceAllString(page, "")
	return dialectOfText.FindAllString(strings.Join(strings.Fields(page), " "), -1)
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
		assert.SlicesEqual(t, dialectOf(parsed(t, "package p\n\n// "+comment+"\nvar x int\n")), want, comment)
	}
}

// The rule finds phrases in prose, and leaves code, links, examples and generated pages alone.
func TestDialectOfPage(t *testing.T) {
	for page, want := range map[string][]string{
		"The clock is that\nof the node.":                             {"is that of"},
		"- Nobody tells\n  of it; it starts anew.":                    {"Nobody", "tells of", "anew"},
		"Run `hand over`, see [it](nobody.md).\n```sh\nsomebody\n```": nil,
		"<!-- examples -->\nnobody\n<!-- end of the examples -->":     nil,
		"<!-- Generated. Do not edit. -->\nnobody":                    nil,
		"<!-- run: exit 3 -->\n```sh\ntrue\n```\nsomebody":            {"somebody"},
	} {
		assert.SlicesEqual(t, dialectOfPage(page), want, page)
	}
}
