package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// Line returns s as safe text without line breaks: newline and tab are escaped, too.
func Line(s string) string {
	return escape(s, unsafeInLine)
}

// Text returns s as safe text of any number of lines: newline and tab are kept.
func Text(s string) string {
	return escape(s, unsafeInText)
}

// colors are the codes with which programs color their output, and those that erase the rest of a line.
var colors = lazyregexp.New(`\x1b\[[\d;]*[mK]`)

// Uncolored removes color codes from the output of a program: they change how a text looks, not what it says, and their escapes
// make it hard to read.
func Uncolored(s string) string {
	if strings.IndexByte(s, '\x1b') < 0 {
		return s
	}
	return colors.ReplaceAllString(s, "")
}

// FileName converts a name from the cluster to a path element that cannot leave its folder. Names that the API server accepts
// are unchanged.
func FileName(name string) string {
	if strings.Trim(name, ".") == "" {
		return "_"
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, name)
}

func unsafeInText(r rune) bool {
	return r != '\n' && r != '\t' && unsafeInLine(r)
}

// unsafeInLine reports whether a validly encoded rune must not reach the terminal.
func unsafeInLine(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point):
		return true
	case r >= 0xE0100 && r <= 0xE01EF:
		return true
	default:
		return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	}
}

func escape(s string, unsafe func(rune) bool) string {
	clean := safePrefix(s, unsafe)
	if clean == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:clean])
	for i := clean; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unsafe(r):
			writeEscaped(&b, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// safePrefix returns the length of the prefix of s that needs no change, which is nearly always all of s.
func safePrefix(s string, unsafe func(rune) bool) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if (r == utf8.RuneError && size == 1) || unsafe(r) {
			return i
		}
		i += size
	}
	return len(s)
}

func writeEscaped(b *strings.Builder, r rune) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r < utf8.RuneSelf:
		fmt.Fprintf(b, `\x%02x`, r)
	case r <= 0xffff:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}
