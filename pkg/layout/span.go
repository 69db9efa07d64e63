package layout

import (
	"fmt"
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

// Text makes a span of any text: what a terminal would obey, including line breaks, is shown
// as an escape.
func Text(style Style, text string) Span {
	text = sanitize.Line(text)
	if !isASCII(text) {
		text = selfContained(text)
	}
	return Span{text: text, style: style, width: Width(text)}
}

// selfContained makes the width of a text independent of what stands before it, so that the
// widths of spans can be added: a mark at its start, which would join the rune before, gets a
// base of its own. Marks that enclose what follows are shown as an escape, because terminals
// and tables of widths do not agree on how wide the whole is.
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

// joinsBefore reports whether text begins with a mark that takes no column of its own, or
// shares that of the character before.
func joinsBefore(text string) bool {
	_, size := utf8.DecodeRuneInString(text)
	if size < 2 {
		return false
	}
	character, _ := ansi.FirstGraphemeCluster("x"+text[:size], ansi.GraphemeWidth)
	return len(character) > 1 || Width(text[:size]) == 0
}

// split cuts between characters, after at most width columns. (ansi.Truncate cuts an ASCII
// character from the marks on it.)
func (s Span) split(width int) (head, rest Span) {
	if s.width == len(s.text) { // ASCII: anything else takes more bytes than columns.
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

// at cuts after n bytes, which must be the end of a character.
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

// Textf is Text of a formatted string.
func Textf(style Style, format string, args ...any) Span {
	return Text(style, fmt.Sprintf(format, args...))
}

// Blank is a span of spaces.
func Blank(columns int) Span {
	columns = max(0, columns)
	return Span{text: strings.Repeat(" ", columns), width: columns}
}

// String is the text without its styles.
func (s Span) String() string { return s.text }

// Style is that of the span.
func (s Span) Style() Style { return s.style }

// Width is how many columns safe text takes.
func Width(text string) int {
	if isASCII(text) {
		return len(text)
	}
	return ansi.StringWidth(text)
}
