package widget

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
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
		if got := f.Matches(c.texts...); got != c.want {
			t.Errorf("%q of %q: %v", c.filter, c.texts, got)
		}
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
		if got := strings.Join(marked, "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := l.String(); !strings.HasPrefix(text, "\xff") && got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
