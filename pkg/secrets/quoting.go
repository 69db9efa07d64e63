package secrets

import (
	"math/bits"
	"strings"
)

// quoting is the state of quotes at a position of a line: programs print JSON in JSON, and commands in either. Reading with
// it undoes the escapes.
type quoting struct {
	// level is how many strings in double quotes are open, each within the one before. In n of them, a backslash is written
	// as 2^n backslashes, and a quote is preceded by 2^n-1.
	level int
	// single is set in a string in single quotes, which began at singleLevel.
	single      bool
	singleLevel int
}

// maxLevel limits levels: text with more escapes is read as text with that many.
const maxLevel = 6

// levelOf returns the level at which a double quote after n backslashes opens or closes a string.
func levelOf(n int) int { return min(bits.TrailingZeros(^uint(n)), maxLevel-1) }

// after returns the state after the text, which follows the state q on the same line; before is the byte before text.
func (q quoting) after(text string, before byte) quoting {
	slashes := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\\':
			slashes++
			before = c
			continue
		case c == '\n':
			q = quoting{}
		case c == '"':
			q = q.toggled(levelOf(slashes))
		case c == '\'' && q.single:
			q.single, q.level = false, q.singleLevel
		case c == '\'' && slashes == 0 && !isWordByte(before): // rather than an apostrophe
			q.single, q.singleLevel = true, q.level
		}
		slashes, before = 0, text[i]
	}
	return q
}

// toggled returns the state after a double quote of a level, which closes a string or opens one. A string of a higher
// level than expected is part of a string whose start the text does not have.
func (q quoting) toggled(level int) quoting {
	opens := level >= q.level
	q.level = level
	if opens {
		q.level++
	}
	q.single = q.single && q.level >= q.singleLevel
	return q
}

// read returns the character at i, without its escapes, and the position after it. It returns 0 and i at the end of the
// string that is open, and at the end of the text. An escaped line end is '\n'.
func (q quoting) read(text string, i int) (c byte, next int) {
	unit, slashes := 1<<q.level, 0
	for slashes < unit && i+slashes < len(text) && text[i+slashes] == '\\' {
		slashes++
	}
	at := i + slashes
	switch {
	case slashes == unit:
		return '\\', at
	case at == len(text):
		return 0, i
	case text[at] == '"' && slashes < unit-1:
		return 0, i
	case text[at] == '\'' && q.single && slashes == 0:
		return q.readApostrophe(text, i)
	case slashes > 0:
		return readEscaped(text, at)
	}
	return text[at], at + 1
}

// readApostrophe reads a single quote in a string in single quotes: in a shell, '\” and '"'"' are such a quote, and any
// other ends the string.
func (q quoting) readApostrophe(text string, i int) (c byte, next int) {
	for _, quote := range []string{`'` + strings.Repeat(`\`, 1<<q.level) + `''`, `'"'"'`} {
		if strings.HasPrefix(text[i:], quote) {
			return '\'', i + len(quote)
		}
	}
	return 0, i
}

// readEscaped reads the character at i, before which are backslashes. A backslash that escapes nothing is one itself.
func readEscaped(text string, i int) (c byte, next int) {
	switch text[i] {
	case 'n':
		return '\n', i + 1
	case 't':
		return '\t', i + 1
	case 'r':
		return '\r', i + 1
	case '"', '/':
		return text[i], i + 1
	}
	return '\\', i
}

// skip returns the position after the backslashes at i, at most as many as the highest level has.
func skip(text string, i int) int {
	end := min(len(text), i+1<<maxLevel)
	for i < end && text[i] == '\\' {
		i++
	}
	return i
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }
