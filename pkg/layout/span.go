package layout

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// Span is a piece of safe text in one style.
type Span struct {
	text  string
	style Style
	width int
}

// Text returns a span. Control characters, including line breaks, are shown as escapes.
func Text(style Style, text string) Span {
	text = sanitize.Line(text)
	if !isASCII(text) {
		text = selfContained(text)
	}
	return Span{text: text, style: style, width: Width(text)}
}

// selfContained makes the width of a text independent of the text before it, so that the widths of spans can be added:
// a combining mark at its start, which would join the previous rune, gets a base character. Prepended marks, which
// enclose the following characters, are shown as escapes, because terminals and Unicode width tables disagree about the
// total width.
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

// joinsBefore reports whether text begins with a mark of width 0, or with a mark that joins the character before it.
func joinsBefore(text string) bool {
	_, size := utf8.DecodeRuneInString(text)
	if size < 2 {
		return false
	}
	character, _ := ansi.FirstGraphemeCluster("x"+text[:size], ansi.GraphemeWidth)
	return len(character) > 1 || Width(text[:size]) == 0
}

// split splits the span between characters, after at most width columns. (ansi.Truncate separates an ASCII character
// from its combining marks.)
func (s Span) split(width int) (head, rest Span) {
	if s.width == len(s.text) { // ASCII: any other text has more bytes than columns.
		return s.at(max(0, min(width, s.width)))
	}
	at, columns := 0, 0
	for at < len(s.text) {
		character, n := ansi.FirstGraphemeCluster(s.text[at:], ansi.GraphemeWidth)
		if columns+n > width {
			break
		}
		at, columns = at+len(character), columns+n
	}
	return s.at(at)
}

// at splits the span after n bytes, which must be the end of a character.
func (s Span) at(n int) (head, rest Span) {
	head = Span{text: s.text[:n], style: s.style, width: Width(s.text[:n])}
	return head, Span{text: s.text[n:], style: s.style, width: s.width - head.width}
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Textf returns a Text of a formatted string.
func Textf(style Style, format string, args ...any) Span {
	return Text(style, fmt.Sprintf(format, args...))
}

// Blank returns a span of spaces.
func Blank(columns int) Span {
	columns = max(0, columns)
	return Span{text: strings.Repeat(" ", columns), width: columns}
}

// String returns the text without its style.
func (s Span) String() string { return s.text }

// Style returns the style of the span.
func (s Span) Style() Style { return s.style }

// tabStops is the distance between tab stops in the output of programs.
const tabStops = 8

// Readable returns a line of a program's output without color codes, and with spaces up to the next tab stop for tabs.
func Readable(text string) string {
	text = sanitize.Uncolored(text)
	if !strings.Contains(text, "\t") {
		return text
	}
	var b strings.Builder
	column := 0
	for i, piece := range strings.Split(text, "\t") {
		if i > 0 {
			n := tabStops - column%tabStops
			b.WriteString(strings.Repeat(" ", n))
			column += n
		}
		b.WriteString(piece)
		column += Width(piece)
	}
	return b.String()
}

// Width returns the number of columns of safe text.
func Width(text string) int {
	if isASCII(text) {
		return len(text)
	}
	return ansi.StringWidth(text)
}
