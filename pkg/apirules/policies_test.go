package apirules

import (
	"strings"
	"testing"
)

// The message names the fragment.
// Requirements: SUC-02
func TestMessageNamesTheWrongInterval(t *testing.T) {
	for text, want := range map[string]string{
		"1,x-3": `"x-3": neither an index nor an interval (first-last)`, "0,9": `"9": there is no index 9; the last one is 4`, "3-1": `"3-1": an interval must start below its end`,
		"2,1": `"1": indexes must increase, but 1 is not above 2`, strings.Repeat("x", 70): `"` + strings.Repeat("x", 59) + `…": neither an index`,
	} {
		if _, problem := ReadIndexes(text, 5); !strings.HasPrefix(problem, want) {
			t.Errorf("%s: %s", text, problem)
		}
	}
}
