package layout

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Wrapped lines fit, keep their hanging indent, and lose only spaces.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLine().Draw(t, "line")
		width, hang := rapid.IntRange(widest, 40).Draw(t, "width"), rapid.IntRange(0, 45).Draw(t, "hang")
		var got strings.Builder
		for i, part := range Wrap(l, width, hang) {
			checkWidth(t, "Wrap", part, width)
			if i > 0 && hang <= width-widest && !strings.HasPrefix(part.String(), strings.Repeat(" ", hang)) {
				t.Fatalf("%q is not indented by %d", part.String(), hang)
			}
			got.WriteString(part.String())
		}
		if want := withoutSpaces(l.String()); withoutSpaces(got.String()) != want {
			t.Fatalf("%q was wrapped to %q", want, got.String())
		}
	})
}

func withoutSpaces(s string) string { return strings.ReplaceAll(s, " ", "") }

// Each character keeps its style, wherever the line is broken.
func TestWrapKeepsStyles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLine().Draw(t, "line")
		var got []Line
		got = append(got, Wrap(l, rapid.IntRange(widest, 30).Draw(t, "width"), 0)...)
		want := styled(l)
		if s := styled(got...); s != want {
			t.Fatalf("styles of %q became %q", want, s)
		}
	})
}

// styled returns each byte except spaces with its style.
func styled(lines ...Line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, s := range l {
			for _, c := range []byte(withoutSpaces(s.text)) {
				b.WriteByte(c)
				b.WriteRune(rune(s.style))
			}
		}
	}
	return b.String()
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		text        string
		width, hang int
		want        string
	}{
		{"", 10, 0, ""}, {"one two three", 8, 0, "one two|three"}, {"one two three", 8, 2, "one two|  three"}, {"one  two", 4, 0, "one|two"},
		{"abcdefgh", 3, 1, "abc| de| fg| h"}, {"a bcdefgh", 4, 0, "a|bcde|fgh"}, {"  indented text", 10, 0, "  indented|text"}, {"ends   ", 10, 0, "ends"},
		{"      far in", 4, 0, "|far|in"}, {"日本語", 3, 0, "日|本|語"}, {"日本語", 1, 0, "日|本|語"}, {"ab cd", 3, 3, "ab|cd"}, {"ab cd", 3, 2, "ab|cd"},
		{"a \u0301b", 2, 0, "a \u0301|b"}, {"a \u0301b c", 4, 0, "a \u0301b|c"}, {"❤\ufe0f❤\ufe0f", 3, 0, "❤\ufe0f|❤\ufe0f"},
		// Lists are broken after commas, and begin on a line of which half is free.
		{"1-3,7,10-12", 6, 0, "1-3,7,|10-12"}, {"in 1,2,3,4,5,6,7", 10, 2, "in 1,2,3,|  4,5,6,7"}, {"index 1,2,3,4,5,6,7", 10, 2, "index|  1,2,3,4,|  5,6,7"},
		{"a,bcdefghij", 4, 0, "a,|bcde|fghi|j"}, {"ab,\u0301cdef", 4, 0, "ab,\u0301c|def"}, {",\u0903xy", 2, 0, ",\u0903x|y"},
	} {
		var got []string
		for _, l := range Wrap(Plainly(tc.text), tc.width, tc.hang) {
			got = append(got, l.String())
		}
		assert.Equalf(t, strings.Join(got, "|"), tc.want, "%q wrapped to %d, hang %d", tc.text, tc.width, tc.hang)
	}
	// A character with very many marks stays whole.
	marks := "e" + strings.Repeat("\u0301", 100)
	if got := Wrap(Plainly("xx"+marks+"y"), 3, 0); len(got) != 2 || got[0].String() != "xx"+marks {
		t.Errorf("a character with many marks: %q", got)
	}
	// A word of two styles stays together.
	l := Of(Text(Plain, "see "), Text(Accent, "rule"), Text(Plain, ": it"))
	if got := Wrap(l, 8, 0); len(got) != 2 || got[0].String() != "see" || got[1].String() != "rule: it" {
		t.Errorf("a word of two styles: %v", got)
	}
}
