package widget

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 6, 1: a filter requires all its words, ignoring case, and excludes the words after an exclamation mark.
func TestFilterAsksForAllWords(t *testing.T) {
	for _, c := range []struct {
		filter string
		texts  []string
		want   bool
	}{
		{"", nil, true}, {"!", []string{"x"}, true}, {"a", nil, false}, {"!a", nil, true},
		{"AB", []string{"xabx"}, true}, {"ab", []string{"xABx"}, true}, {"ab", []string{"a", "b"}, false}, {"a b", []string{"a", "b"}, true},
		{"a !b", []string{"a", "b"}, false}, {"a !b", []string{"a"}, true}, {"abc", []string{"ab"}, false}, {"c", []string{"abc"}, true},
		{"ÖL", []string{"xölx"}, true}, {"öl", []string{"xÖLx"}, true}, {"ж", []string{"aaaЖ"}, true}, {"b", []string{"\xff\xfeB"}, true},
	} {
		var f Filter
		f.Set(c.filter)
		assert.Equalf(t, f.Matches(c.texts...), c.want, "%q of %q", c.filter, c.texts)
	}
}

// Issue 6, 3: matches are highlighted, and no text is lost.
func TestMatchesAreMarked(t *testing.T) {
	var f Filter
	f.Set("err warn !x")
	for text, want := range map[string]string{
		"an Error, a WARNING": "Err|WARN", "errerr": "err|err", "nothing": "", "": "", "wärn err": "err", "İ err": "", "\xff err": "",
	} {
		l := f.Highlight(text, layout.Plain)
		var marked []string
		for _, s := range l {
			if s.Style()&layout.Reverse != 0 {
				marked = append(marked, s.String())
			}
		}
		assert.Equal(t, strings.Join(marked, "|"), want, text)
		if got := l.String(); !strings.HasPrefix(text, "\xff") && got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A filter for logs is a regular expression, which ignores case and may be inverted; text that is none selects everything,
// and the line of the filter says why.
// Requirements: VIE-13
func TestFilterByRegularExpression(t *testing.T) {
	for _, c := range []struct {
		filter, text string
		want         bool
		marked       string
	}{
		{"err(or)?:", "x ERR: y", true, "ERR:"}, {"^warn", "a warn", false, ""}, {"!^warn", "a warn", true, ""}, {"!warn", "a WARN", false, ""},
		{"a b", "xa by", true, "a b"}, {"a b", "b a", false, ""}, {"", "x", true, ""}, {"!", "x", true, ""}, {"x*", "axx", true, "xx"},
	} {
		f := Filter{ByRegexp: true}
		f.Set(c.filter)
		assert.Equalf(t, !f.IsSet() || f.Matches(c.text), c.want, "%q of %q", c.filter, c.text)
		marked, all := "", f.Highlight(c.text, layout.Plain)
		for _, s := range all {
			if s.Style()&layout.Reverse != 0 {
				marked += s.String()
			}
		}
		if c.want && marked != c.marked || all.String() != c.text {
			t.Errorf("%q of %q marks %q in %q", c.filter, c.text, marked, all)
		}
	}
	for text, want := range map[string]string{
		"[a": "missing closing ]", "!a(": "missing closing )", "*": "missing argument to repetition operator", "(a{999}){999}": "invalid repeat count",
	} {
		f := Filter{ByRegexp: true}
		f.Set(text)
		p := &Paint{Frame: section.Frame{Width: 100, Glyphs: layout.NewGlyphs(false)}}
		if got := f.Line(p, 1, 1, "lines").String(); f.IsSet() || got != "/"+text+"  no regular expression: "+want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
