package layout

import (
	"image/color"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// sgr matches the only sequences that may occur.
const sgr = `\x1b\[[0-9;]*m`

// Issue 6: every style of every theme is a color and attributes, and is reset at its end.
func TestThemeStyles(t *testing.T) {
	only := regexp.MustCompile("^(" + sgr + ")?x(" + sgr + ")?$")
	for _, b := range []Background{Dark, Light, Unknown, Colorless} {
		theme := NewTheme(b)
		for role := range roles {
			for _, attribute := range []struct {
				style Style
				code  string
			}{{0, ""}, {Bold, "1"}, {Reverse, "7"}, {Underline, "4"}, {Bold | Reverse, "7"}, {Bold | Reverse | Underline, "4"}} {
				got := theme.Render(Of(Text(role|attribute.style, "x")))
				if !only.MatchString(got) || ansi.Strip(got) != "x" {
					t.Fatalf("background %d, style %d: %q", b, role|attribute.style, got)
				}
				assert.Equal(t, strings.HasPrefix(got, "\x1b"), strings.HasSuffix(got, reset), b, role|attribute.style)
				if !contains(codes(got), attribute.code) {
					t.Errorf("background %d, style %d lacks %q: %q", b, role|attribute.style, attribute.code, got)
				}
				assert.Equal(t, strings.Contains(got, "38;2;"), ((b == Dark || b == Light) && role != Plain), b, role|attribute.style)
			}
		}
	}
}

func contains(codes []string, code string) bool {
	for _, c := range codes {
		if code == "" || c == code {
			return true
		}
	}
	return code == ""
}

// codes returns the numbers of the first sequence.
func codes(rendered string) []string {
	m := regexp.MustCompile(`^\x1b\[([0-9;]*)m`).FindStringSubmatch(rendered)
	if m == nil {
		return nil
	}
	return strings.Split(m[1], ";")
}

// NO_COLOR: attributes remain, colors do not.
func TestColorless(t *testing.T) {
	theme := NewTheme(Colorless)
	for style, open := range theme.open {
		for _, code := range codes(open) {
			if !contains([]string{"1", "2", "4", "7"}, code) {
				t.Errorf("style %d has the code %s", style, code)
			}
		}
	}
	for style, want := range map[Style]string{Plain: "x", Good: "x", Muted: "\x1b[2mx\x1b[m", Bad: "\x1b[1mx\x1b[m", Reverse: "\x1b[7mx\x1b[m"} {
		assert.Equalf(t, theme.Render(Of(Text(style, "x"))), want, "style %d", style)
	}
}

// If the background is unknown, the terminal chooses among its 16 colors; the zero Theme writes no sequences.
func TestUnknownBackground(t *testing.T) {
	l := Of(
		Text(Plain, "a"), Text(Muted, "b"), Text(Good, "c"), Text(Bad|Bold, "d"), Text(Warn, ""), Text(Warn, "e"), Text(Accent, "f"), Text(Bold, "g"),
	)
	want := "a\x1b[2mb\x1b[m\x1b[32mc\x1b[m\x1b[1;31md\x1b[m\x1b[33me\x1b[m\x1b[36mf\x1b[m\x1b[1mg\x1b[m"
	assert.Equal(t, NewTheme(Unknown).Render(l), want)
	assert.Equal(t, new(Theme).Render(l), "abcdefg", "the zero Theme renders")
}

// Each color is readable on its background: WCAG 2 requires a contrast of 4.5 to 1.
func TestContrast(t *testing.T) {
	for _, tc := range []struct {
		background Background
		color      color.Color
	}{{Dark, color.Black}, {Light, color.White}} {
		seen := map[color.Color]Style{}
		for role := Muted; role < roles; role++ {
			c := colorOf(tc.background, role)
			if c == nil {
				t.Errorf("background %d, role %d has no color", tc.background, role)
				continue
			}
			if got := contrast(c, tc.color); got < 4.5 {
				t.Errorf("background %d, role %d: contrast %.2f", tc.background, role, got)
			}
			if other, twice := seen[c]; twice {
				t.Errorf("background %d: roles %d and %d look the same", tc.background, role, other)
			}
			seen[c] = role
		}
	}
	if got := contrast(color.Black, color.White); math.Abs(got-21) > 0.01 {
		t.Errorf("black on white has a contrast of %.2f, not 21", got)
	}
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	part := func(v uint32) float64 {
		f := float64(v) / 0xffff
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
}

// Adjacent spans of one style share one sequence.
func TestRenderJoinsNeighbors(t *testing.T) {
	theme := NewTheme(Colorless)
	l := Of(Text(Bold, "a"), Text(Bold, "b"), Text(Plain, "c"), Text(Reverse, "d"))
	assert.Equal(t, theme.Render(l), "\x1b[1mab\x1b[mc\x1b[7md\x1b[m")
	assert.Equal(t, theme.RenderAll([]Line{l[2:3], nil, l[2:3]}), "c\n\nc")
}
