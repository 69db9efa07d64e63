package layout

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
)

// Span is a piece of safe text in one style.
type Span struct {
	text  string
	style Style
	width int
}

// Line is what stands on one line of the screen.
type Line []Span

// Text makes a span of any text: what a terminal would obey, line breaks too, is shown as an
// escape.
func Text(style Style, text string) Span {
	text = sanitize.Line(text)
	if !isASCII(text) {
		text = selfContained(text)
	}
	return Span{text: text, style: style, width: Width(text)}
}

// selfContained makes the width of a text independent of what stands before it, so that the
// widths of spans can be added: a mark at its begin, which would join the rune before, gets a
// base of its own. Marks that take in what follows are shown as an escape, as terminals and
// tables of widths do not agree on how wide the whole is.
func selfContained(text string) string {
	if strings.IndexFunc(text, isPrepended) >= 0 {
		var b strings.Builder
		for _, r := range text {
			if isPrepended(r) {
				fmt.Fprintf(&b, `\u%04x`, r)
				continue
			}
			b.WriteRune(r)
		}
		text = b.String()
	}
	if joinsBefore(text) {
		return "◌" + text
	}
	return text
}

func isPrepended(r rune) bool { return unicode.Is(unicode.Prepended_Concatenation_Mark, r) }

// joinsBefore says that a text begins with a mark that takes no column of its own.
func joinsBefore(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	return r >= utf8.RuneSelf && Width(text[:size]) == 0
}

// split cuts between characters, after at most width columns. (ansi.Truncate cuts an ASCII
// character from the marks on it.)
func (s Span) split(width int) (head, rest Span) {
	at, columns := 0, 0
	for at < len(s.text) {
		character, n := ansi.FirstGraphemeCluster(s.text[at:], ansi.GraphemeWidth)
		if columns+n > width {
			break
		}
		at, columns = at+len(character), columns+n
	}
	return Span{text: s.text[:at], style: s.style, width: columns}, Span{text: s.text[at:], style: s.style, width: s.width - columns}
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Textf is Text of a formatted string.
func Textf(style Style, format string, args ...any) Span {
	return Text(style, fmt.Sprintf(format, args...))
}

// Of is a line of spans.
func Of(spans ...Span) Line { return spans }

// Plainly is a line of one plain span.
func Plainly(text string) Line { return Line{Text(Plain, text)} }

// String is the text without its styles.
func (s Span) String() string { return s.text }

// Style is that of the span.
func (s Span) Style() Style { return s.style }

// String is the text of the line without its styles.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// Width is how many columns the line takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += s.width
	}
	return n
}

// With adds attributes to the style of each span.
func (l Line) With(attributes Style) Line {
	out := make(Line, len(l))
	for i, s := range l {
		s.style |= attributes
		out[i] = s
	}
	return out
}

// Cut shortens the line to width columns. What is left out is marked by an ellipsis, which
// is one or more columns wide.
func (l Line) Cut(width int, ellipsis string) Line {
	if l.Width() <= width {
		return l
	}
	width = max(0, width)
	room := max(0, width-Width(ellipsis))
	out := make(Line, 0, len(l))
	for _, s := range l {
		if s.width <= room {
			out, room = append(out, s), room-s.width
			continue
		}
		s, _ = s.split(room)
		mark, _ := Text(s.style, ellipsis).split(width)
		return append(out, s, mark)
	}
	return out
}

// Pad adds plain spaces up to width columns. What is appended to the result does not write
// into the line it was made of.
func (l Line) Pad(width int) Line {
	l = slices.Clip(l)
	if missing := width - l.Width(); missing > 0 {
		return append(l, Blank(missing))
	}
	return l
}

// Fit makes the line exactly width columns wide.
func (l Line) Fit(width int, ellipsis string) Line { return l.Cut(width, ellipsis).Pad(width) }

// Blank is so many spaces.
func Blank(columns int) Span {
	columns = max(0, columns)
	return Span{text: strings.Repeat(" ", columns), width: columns}
}

// Width is how many columns safe text takes.
func Width(text string) int {
	if isASCII(text) {
		return len(text)
	}
	return ansi.StringWidth(text)
}

// Spread puts left at the left and right at the right end of a line of width columns; left
// is cut when there is not room for both, and right when there is not room for it alone.
func Spread(width int, left, right Line, ellipsis string) Line {
	room := width - right.Width()
	if room <= 0 {
		return right.Cut(width, ellipsis)
	}
	return append(left.Fit(room, ellipsis), right...)
}

// Beside puts blocks of lines beside each other: left is made leftWidth columns wide, gap
// columns stay empty. The lines of right stay as they are.
func Beside(left []Line, leftWidth, gap int, right []Line, ellipsis string) []Line {
	out := make([]Line, max(len(left), len(right)))
	for i := range out {
		var l Line
		if i < len(left) {
			l = left[i].Cut(leftWidth, ellipsis)
		}
		if i < len(right) {
			l = append(l.Pad(leftWidth), Blank(gap))
			l = append(l, right[i]...)
		}
		out[i] = l
	}
	return out
}

// Indent puts so many spaces before the line.
func (l Line) Indent(columns int) Line {
	if columns <= 0 {
		return l
	}
	return append(Line{Blank(columns)}, l...)
}
