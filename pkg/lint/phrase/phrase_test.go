package phrase

import (
	"strings"
	"testing"
)

func TestLists(t *testing.T) {
	for words, want := range map[string][2]string{
		"":          {"", ""},
		"a":         {"a", "a"},
		"a b":       {"a or b", "a and b"},
		"a b c":     {"a, b or c", "a, b and c"},
		"a b c d e": {"a, b, c, d or e", "a, b, c and 2 more"},
	} {
		list := strings.Fields(words)
		if got := [2]string{Or(list), And(list)}; got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
