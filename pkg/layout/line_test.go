package layout

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// pieces returns texts that are difficult for terminals and Unicode width tables.
func pieces() []string {
	return []string{
		"a", "train-0", " ", "   ", ",", "1-3,7,", "日本語", "é", "e\u0301", "\u0301", "\u20e3", "\ufe0f", "❤", "❤\ufe0f", "1\ufe0f\u20e3", "👍🏽", "🏽", "🇩", "🇪",
		"👨‍👩‍👧", "ᄀ", "ᅡ", "각", "क्ष", "\u0600", "\u0601", "1", "\u0e33", "\u0903", "שלום", "\x1b[31m", "\x1b]0;x\x07", "\r", "\n", "\t", "\x00", "\x7f",
		"\x9b", "\u009b", "\u0085", "\xff\xfe", "\xe2\x80", "\u202e", "\u2066", "\u2028", "\u200b", "\u3164", "…", "█", strings.Repeat("x", 30),
	}
}

// anyText generates text that may come from a cluster: bytes, runes of all planes, and pieces.
func anyText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "pieces") {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				b.WriteString(rapid.StringN(0, 12, -1).Draw(t, "runes"))
			case 1:
				b.Write(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "bytes"))
			default:
				b.WriteString(rapid.SampledFrom(pieces()).Draw(t, "piece"))
			}
		}
		return b.String()
	})
}

func anyStyle() *rapid.Generator[Style] {
	return rapid.Custom(func(t *rapid.T) Style {
		return Style(rapid.IntRange(0, int(roles)-1).Draw(t, "role")) | Style(rapid.IntRange(0, 7).Draw(t, "attributes"))*Bold
	})
}

func anyLine() *rapid.Generator[Line] {
	return rapid.Custom(func(t *rapid.T) Line {
		var l Line
		for range rapid.IntRange(0, 5).Draw(t, "spans") {
			l = append(l, Text(anyStyle().Draw(t, "style"), anyText().Draw(t, "text")))
		}
		return l
	})
}

func anyWidth() *rapid.Generator[int] { return rapid.IntRange(0, 40) }

func anyEllipsis() *rapid.Generator[string] { return rapid.SampledFrom([]string{"…", "..", "..."}) }

// checkWidth fails if the line's own width or its actual width exceeds width.
func checkWidth(t *rapid.T, what string, l Line, width int) {
	if l.Width() > width {
		t.Fatalf("%s: %q says it is %d columns wide, asked for %d", what, l.String(), l.Width(), width)
	}
	if w := ansi.StringWidth(l.String()); w > width {
		t.Fatalf("%s: %q is %d columns wide, asked for %d", what, l.String(), w, width)
	}
}

// Issue 6: no line is wider than the terminal, whatever it contains.
func TestNothingIsTooWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyLine().Draw(t, "a"), anyLine().Draw(t, "b")
		width, ellipsis := anyWidth().Draw(t, "width"), anyEllipsis().Draw(t, "ellipsis")
		checkWidth(t, "whole", a, a.Width())
		checkWidth(t, "Cut", a.Cut(width, ellipsis), width)
		if got := a.Fit(width, ellipsis); got.Width() != width {
			t.Fatalf("Fit: %q is %d columns wide, want %d", got.String(), got.Width(), width)
		}
		checkWidth(t, "Fit", a.Fit(width, ellipsis), width)
		spread := Spread(width, a, b, ellipsis)
		checkWidth(t, "Spread", spread, width)
		if b.Width() <= width && !strings.HasSuffix(spread.String(), b.String()) {
			t.Fatalf("Spread: %q does not end with %q", spread.String(), b.String())
		}
		for _, l := range Beside([]Line{a, b}, width, 2, []Line{b.Cut(width, ellipsis)}, ellipsis) {
			checkWidth(t, "Beside", l, 2*width+2)
		}
	})
}

// Cut marks truncated text, and truncates no more than necessary.
func TestCut(t *testing.T) {
	for _, tc := range []struct {
		text     string
		width    int
		ellipsis string
		want     string
	}{
		{"abcdef", 6, "…", "abcdef"}, {"abcdef", 5, "…", "abcd…"}, {"abcdef", 5, "..", "abc.."}, {"abcdef", 1, "…", "…"}, {"abcdef", 1, "..", "."},
		{"abcdef", 0, "…", ""}, {"abcdef", -3, "…", ""}, {"日本語", 5, "…", "日本…"}, {"日本語", 4, "…", "日…"}, {"e\u0301e\u0301e\u0301", 2, "…", "e\u0301…"}, {"", 0, "…", ""},
		{"abcd", 3, "", "abc"}, {"a日本", 4, "", "a日"}, {"a", 0, "", ""},
	} {
		assert.Equalf(t, Plainly(tc.text).Cut(tc.width, tc.ellipsis).String(), tc.want, "%q cut to %d", tc.text, tc.width)
	}
	got := Of(Text(Good, "abc"), Text(Bad, "def"), Text(Warn, "ghi")).Cut(5, "…")
	if got.String() != "abcd…" || got[len(got)-1].Style() != Bad {
		t.Errorf("three spans are cut to %q, the ellipsis in style %d", got.String(), got[len(got)-1].Style())
	}
}

// Appending to a line derived from another does not change the other one.
func TestAppendingToALineChangesNoOther(t *testing.T) {
	whole := Of(Text(Plain, "ab"), Text(Good, "cd"))
	part := whole[:1]
	for name, got := range map[string]Line{
		"Fit":    append(part.Fit(2, "…"), Text(Bad, "xx")),
		"Pad":    append(part.Pad(1), Text(Bad, "xx")),
		"Spread": Spread(4, part, Plainly("xx"), "…"),
		"Beside": Beside([]Line{part}, 2, 1, []Line{Plainly("xx")}, "…")[0],
		"Indent": part.Indent(0).With(Bold),
	} {
		assert.Equalf(t, whole.String(), "abcd", "the line of which %s made %q", name, got.String())
	}
}

func TestLayout(t *testing.T) {
	left, right := []Line{Plainly("abcdefgh"), Plainly("b"), Plainly("a long one")}, []Line{Plainly("x"), Plainly("y")}
	var got []string
	for _, l := range Beside(left, 4, 2, right, "…") {
		got = append(got, l.String())
	}
	assert.Equal(t, strings.Join(got, "|"), "abc…  x|b     y|a l…")
	assert.Equal(t, Beside(nil, 2, 1, right, "…")[1].String(), "   y", "Beside nothing")
	assert.Equal(t, Spread(10, Plainly("left"), Plainly("right"), "…").String(), "left right", "Spread")
	assert.Equal(t, Spread(4, Plainly("left"), Plainly("right"), "…").String(), "rig…", "Spread without room")
	assert.Equal(t, Plainly("x").Indent(3).String(), "   x", "Indent")
	for _, s := range Of(Text(Good, "a"), Text(Bad|Bold, "b")).With(Reverse) {
		if s.Style()&Reverse == 0 {
			t.Errorf("With: %q has style %b", s, s.Style())
		}
	}
	assert.Equal(t, Textf(Plain, "%d %s", 3, "\r").String(), `3 \r`, "Textf")
	if got := Blank(-1); got.String() != "" || got.width != 0 {
		t.Errorf("Blank: %q", got)
	}
}

// A mark cannot join the text before its span, nor hide the text after it.
func TestMarksKeepToThemselves(t *testing.T) {
	for text, want := range map[string]string{
		"\u0301x": "◌\u0301x", "\ufe0f": "◌\ufe0f", "\u0903x": "◌\u0903x", "e\u0301": "e\u0301", "\u0600123": `\u0600123`, "日": "日",
	} {
		assert.Equalf(t, Text(Plain, text).String(), want, "%q is shown as", text)
	}
	if got := Of(Text(Plain, "❤"), Text(Plain, "\ufe0f")); got.Width() != ansi.StringWidth(got.String()) {
		t.Errorf("%q is %d columns wide, and says %d", got.String(), ansi.StringWidth(got.String()), got.Width())
	}
}

// obeyed returns the control characters in a rendered line, other than the sequences of the theme.
func obeyed(theme *Theme, rendered string) string {
	for _, open := range theme.open {
		if open != "" {
			rendered = strings.ReplaceAll(rendered, open, "")
		}
	}
	rendered = strings.ReplaceAll(rendered, reset, "")
	var bad strings.Builder
	for _, r := range rendered {
		switch {
		case r < ' ', r >= 0x7f && r <= 0x9f, r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x2028, r == 0x2029:
			bad.WriteRune(r)
		}
	}
	if !utf8.ValidString(rendered) {
		bad.WriteString("invalid UTF-8")
	}
	return bad.String()
}

// Issue 6: hostile text cannot move the cursor, recolor or retitle.
func FuzzText(f *testing.F) {
	for _, piece := range pieces() {
		f.Add(piece, "x"+piece+piece, uint8(7))
	}
	themes := []*Theme{NewTheme(Dark), NewTheme(Light), NewTheme(Colorless)}
	f.Fuzz(func(t *testing.T, a, b string, n uint8) {
		style, width := Style(n)%roles|Style(n>>5)*Bold, int(n)
		l := Of(Text(style, a), Text(Bad, b))
		lines := append(Wrap(l, width, 2), l, l.Cut(width, "…"), l.With(Reverse).Fit(width, ".."))
		for _, theme := range themes {
			if bad := obeyed(theme, strings.ReplaceAll(theme.RenderAll(lines), "\n", "")); bad != "" {
				t.Fatalf("a terminal gets %q of %q and %q", bad, a, b)
			}
			if got := strings.Count(theme.RenderAll(lines), "\n"); got != len(lines)-1 {
				t.Fatalf("%d line breaks in %d lines", got, len(lines))
			}
		}
		for _, l := range lines[:len(lines)-3] {
			if w := ansi.StringWidth(l.String()); w > max(width, widest) {
				t.Fatalf("%q is %d columns wide, not %d", l.String(), w, width)
			}
		}
	})
}
