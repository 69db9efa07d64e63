package secrets

import (
	"cmp"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// announced is the name of a secret in a text, and what separates it from the value: name..end is the part of the name that
// a pattern found, value the position after the separator. quotes is the state at value.
type announced struct {
	text             string
	name, end, value int
	quotes           quoting
}

var (
	// opening matches what programs print before the quote of a value: Some("x"), b'x', $'x', !!str "x".
	opening = lazyregexp.New("^(?:\\w{1,40}\\(|[bruf]{1,2}|[$@]|(?:!!?\\w*|&\\w+)[ \t]+)(?:\\\\*[\"'`])")
	// tag matches a tag or an anchor of YAML.
	tag = lazyregexp.New(`^(?:!!?\w*|&\w+)[ \t]+`)
	// object matches the start of an object whose fields are values of their own, or a pointer.
	object = lazyregexp.New(`^(?:[{\[]\s*$|\[?\{\s*(?:\\*["'}]|[\w.-]{1,100}\s*[:=])|\[\s*\]|&?[\w.*\[\]]{1,100}\{|map\[|\(\*|0x[0-9a-f]+\b)`)
	// below matches what is left of a line of YAML if the value is on the next lines.
	below = lazyregexp.New(`^(?:[|>][-+0-9]{0,2}[ \t]*(?:#|\r?\n|\\+n|$)|[ \t\r]*\n|\\|$)`)
	// bracketed matches the start of a list, or of a value in braces as in a connection string of ODBC.
	bracketed = lazyregexp.New(`(?i)^(?:\{(?:[^{]|$)|\[(?:"|'|[^rm*]|$))`)
	// key matches a field or an item of a list in YAML, which are no scalars.
	key = lazyregexp.New(`^(?:-[ \t]|[{\[|>#]|\\*["']?[\w.-]{1,100}\\*["']?:(?:\s|\\+n|$))`)
	// entity matches an escaped quote of HTML.
	entity = lazyregexp.New(`^(?:&quot;|&#3[49];)`)
	// parameter matches the next parameter of a query.
	parameter = lazyregexp.New(`^&(?:amp;)?[\w.%\[\]-]+=`)
	// another matches the end of the text of a value with spaces: a comment or the next name.
	another = lazyregexp.New(`[ \t]+(?:#|[\w.-]+[=:])|[ \t]*(?:[;|]|&&)`)
	// setCommand matches a command of Windows that sets a variable to the rest of the line.
	setCommand = lazyregexp.New(`(?i)(?:^|>)[ \t]*set[ \t]+"?$`)
)

// find returns the range of the value, or an empty range.
func (a *announced) find() (from, to int) {
	text, i := a.text, a.value+prefix(a.text[a.value:])
	rest := text[a.value:min(len(text), a.value+lookBack)]
	q, isQuote := a.quotes.opens(text, i)
	if m := entity.FindString(rest); m != "" {
		end, _, _ := strings.Cut(text[i+len(m):min(len(text), i+len(m)+maxBlock)], m)
		return i + len(m), i + len(m) + len(end)
	}
	separator := text[a.end:a.value]
	colon := strings.Contains(separator, ":") && !strings.Contains(separator, "=")
	switch {
	case isQuote && colon:
		from, to, _ = q.segment(text, i)
		if end := a.continued(q, text, i, to); end > to {
			to = end
		}
		return from, to
	case isQuote:
		from, to, _ = q.word(text, i, endsValue)
		return from, to
	case colon && below.MatchString(rest):
		if from, to = a.below(); from < to {
			return from, to
		}
	}
	if object.MatchString(rest) {
		return i, i
	}
	if bracketed.MatchString(rest) {
		if end := q.bracket(text, i); end > 0 {
			return i + 1, end
		}
	}
	from, to, _ = q.word(text, i, endsValue)
	return from, trimmed(lineBefore(text, a.name)+text[a.name:from], text, from, to)
}

// lookBack is how far before a name its line is read, in bytes. It and maxBlock keep the time linear in the length of a line.
const lookBack = 200

// lineBefore returns the end of the line before i.
func lineBefore(text string, i int) string {
	line := text[max(0, i-lookBack):i]
	return line[strings.LastIndexByte(line, '\n')+1:]
}

// prefix returns the length of what is before the quote of a value, or of a tag of YAML.
func prefix(text string) int {
	text = text[:min(len(text), lookBack)]
	if opening.MatchString(text) {
		return strings.IndexAny(text, "\"'`\\")
	}
	return len(tag.FindString(text))
}

// trimmed returns the end of a value without punctuation, and without the brackets that were opened before it.
func trimmed(before, text string, from, to int) int {
	for ; from < to; to-- {
		last := text[to-1]
		i := strings.IndexByte(")}]>", last)
		if i < 0 && strings.IndexByte("\"'`\\,;", last) < 0 || i >= 0 && strings.IndexByte(before, "({[<"[i]) < 0 {
			break
		}
	}
	return to
}

// opens reports whether a quote at i opens a string, and returns the state in which it does. A quote that should close the
// string around it may open another one, because a log may have apostrophes and may begin within a string.
func (q quoting) opens(text string, i int) (quoting, bool) {
	c, _ := q.read(text, i)
	if isQuote(c) {
		return q, true
	}
	next := skip(text, i)
	if next == len(text) || !isQuote(text[next]) {
		return q, false
	}
	if next+1 == len(text) || strings.IndexByte(" \t\r\n,;:)]}+", text[next+1]) >= 0 {
		return q, false // It ends the string.
	}
	other := quoting{level: levelOf(next - i)}
	if text[next] != '"' {
		other.level = q.level
	}
	c, _ = other.read(text, i)
	return other, c == text[next]
}

// segment returns the position of the text in the quotes that open at i, and the position after them. Without a closing
// quote, the text extends to the end of the line.
func (q quoting) segment(text string, i int) (from, to, next int) {
	quote, from := q.read(text, i)
	if triple := strings.Repeat(string(rune(quote)), 3); q.level == 0 && strings.HasPrefix(text[i:], triple) {
		if end := strings.Index(text[i+3:min(len(text), i+3+maxBlock)], triple); end > 0 {
			return i + 3, i + 3 + end, i + end + 6
		}
	}
	if quote == '\'' {
		return q.apostrophes(text, from)
	}
	slashes := 0
	for i = from; i < len(text) && text[i] != '\n'; i++ {
		level := levelOf(slashes)
		switch {
		case text[i] == '\\':
			slashes++
			continue
		case quote == '`' && text[i] == quote:
			return from, i - min(slashes, 1<<q.level-1), i + 1
		case quote == '"' && text[i] == quote && level == q.level:
			return from, i - (1<<level - 1), i + 1
		case quote == '"' && text[i] == quote && level < q.level:
			return from, i - (1<<level - 1), i - (1<<level - 1)
		}
		slashes = 0
	}
	return from, i, i
}

// maxBlock is the longest text in triple quotes or brackets, in bytes.
const maxBlock = 4096

// apostrophes returns what segment does, for text in single quotes that starts at from. A doubled quote is part of the text,
// as in SQL and YAML, and so is a quote after a backslash.
func (q quoting) apostrophes(text string, from int) (begin, to, next int) {
	for i := from; ; {
		c, next := q.read(text, i)
		switch {
		case c == 0, c == '\n' && text[i] == '\n':
			return from, i, i
		case c == '\\':
			if _, after := q.read(text, next); after > next {
				next = after
			}
		case c == '\'':
			again, after := q.read(text, next)
			if again != '\'' || i == from {
				return from, i, next
			}
			next = after
		}
		i = next
	}
}

// word returns the position of a word of a shell at i, and the position after it: quoted parts, escaped characters and other
// characters up to the first one for which ends returns true. The position is without the quotes at both ends.
func (q quoting) word(text string, i int, ends func(text string, i int, c byte, quoted bool) bool) (from, to, next int) {
	from, to = i, i
	for begin, quoted := i, false; ; {
		c, next := q.read(text, i)
		switch {
		case c == 0, i < len(text) && text[i] == '\n', ends(text, i, c, quoted):
			return from, to, i
		case c == '\\':
			escaped, after := q.read(text, next)
			if escaped == 0 || isEndOfString(text, i) {
				return from, to, i
			}
			quoted, i, to = false, after, after
		case isQuote(c) && i > begin && (isEndOfString(text, i) || text[i-1] == ','):
			return from, to, i
		case isQuote(c):
			start, end, after := q.segment(text, i)
			if after == end && i > begin && !quoted { // no closing quote
				quoted, i, to = false, next, next
				continue
			}
			if i == begin {
				from = start
			}
			quoted, i, to = true, after, end
		default:
			quoted, i, to = false, next, next
		}
	}
}

// isEndOfString reports whether the quote at i, which may be escaped, ends a string of JSON or of a language, rather than
// opening one in the middle of a word.
func isEndOfString(text string, i int) bool {
	if i = skip(text, i); i == len(text) || !isQuote(text[i]) {
		return false
	}
	return i+1 == len(text) || strings.IndexByte(",}]):;\r\n", text[i+1]) >= 0
}

// endsValue reports whether the character c at i ends a value: a space, a color, the next parameter of a query, or the next
// tag. After a quoted part, a value continues only as a word of a shell does.
func endsValue(text string, i int, c byte, quoted bool) bool {
	switch {
	case c == ' ', c == '\t', c == '\r', c == '\n', c == '\x1b':
		return true
	case quoted:
		return !isWordByte(c) && strings.IndexByte("\"'`\\$-+=@%#~^", c) < 0
	case c == '&':
		return parameter.MatchString(text[i:])
	case c == '<':
		return i+2 < len(text) && text[i+1] == '/' && isWordByte(text[i+2])
	case c == '%':
		return strings.HasPrefix(text[i:], "%26")
	}
	return false
}

// bracket returns the position of the bracket that closes the one at i on the same line, or 0.
func (q quoting) bracket(text string, i int) int {
	text, depth := text[:min(len(text), i+maxBlock)], 0
	for {
		c, next := q.read(text, i)
		switch c {
		case 0, '\n':
			return 0
		case '"', '\'':
			_, _, next = q.segment(text, i)
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i
			}
		}
		i = next
	}
}

// start returns where the whole name starts, of which a pattern may have found only the end.
func (a *announced) start() int {
	i := a.end
	for i > max(0, a.end-lookBack) && (isWordByte(a.text[i-1]) || a.text[i-1] == '.' || a.text[i-1] == '-') {
		i--
	}
	return i
}

// lineKey reports whether the name is at the start of a line, as in YAML, and returns its indentation.
func (a *announced) lineKey() (indent int, ok bool) {
	i := a.start()
	if i < a.end && i > 0 && a.text[i] == 'n' && a.text[i-1] == '\\' { // an escaped end of a line
		return 0, true
	}
	if i > 0 && strings.IndexByte("\"'", a.text[i-1]) >= 0 {
		if !a.quotes.isOutside() { // the start of a text in quotes
			return 0, true
		}
		i = len(strings.TrimRight(a.text[:i-1], `\`))
	}
	end := i
	i -= min(i, lookBack) - len(strings.TrimRight(a.text[i-min(i, lookBack):i], " -"))
	return end - i, i == 0 || strings.IndexByte("\n\"'`", a.text[i-1]) >= 0 || i > 1 && a.text[i-1] == 'n' && a.text[i-2] == '\\'
}

// below returns the position of a value on the lines after its name in YAML: a block, or a scalar.
func (a *announced) below() (from, to int) {
	indent, ok := a.lineKey()
	if !ok {
		return 0, 0
	}
	q, i, isBlock := a.quotes, a.value, strings.IndexByte("|>", a.at(a.value)) >= 0
	for c := byte(' '); c != '\n'; {
		if c, i = q.read(a.text, i); c == 0 || i > a.value+lookBack {
			return 0, 0
		}
	}
	for first := true; ; first = false {
		begin, end, next := q.line(a.text, i)
		switch {
		case begin == end && next > i && isBlock: // an empty line
		case begin == end, begin-i <= indent:
			return from, to
		case isBlock:
			from, to = cmp.Or(from, begin), end
		case key.MatchString(a.text[begin:min(len(a.text), begin+200)]):
			return from, to
		default:
			if c, _ := q.read(a.text, begin); first && (c == '"' || c == '\'') {
				from, to, _ = q.segment(a.text, begin)
				return from, to
			}
			from, to = cmp.Or(from, begin), end
		}
		if next == end {
			return from, to
		}
		i = next
	}
}

// line returns the position of the text of the line at i, without spaces around it, and the start of the next line, or the
// end of the text if there is none.
func (q quoting) line(text string, i int) (begin, end, next int) {
	for begin = i; begin < len(text) && text[begin] == ' '; {
		begin++
	}
	end = begin
	for i = begin; ; {
		c, after := q.read(text, i)
		switch c {
		case 0:
			return begin, end, end
		case '\n':
			return begin, end, after
		case ' ', '\r', '\t':
		default:
			end = after
		}
		i = after
	}
}

// continued returns the end of a value in quotes that continues on the next lines, which are indented by more than its name;
// to is the end of its first line.
func (a *announced) continued(q quoting, text string, i, to int) int {
	indent, ok := a.lineKey()
	if !ok || to >= len(text) || text[to] != '\n' {
		return to
	}
	quote, _ := q.read(text, i)
	for to < len(text) && text[to] == '\n' {
		begin, _, _ := q.line(text, to+1)
		if begin-to-1 <= indent {
			return to
		}
		line, _, _ := strings.Cut(text[begin:], "\n")
		if end := strings.IndexByte(line, quote); end >= 0 {
			return begin + end
		}
		to = begin + len(line)
	}
	return to
}

func (a *announced) at(i int) byte {
	if i < len(a.text) {
		return a.text[i]
	}
	return 0
}

// extended returns the end of a value of which to is the end of the first word, if it may have more words: a variable in
// quotes, such as "DB_PASSWORD=two words", a line of a properties file, or a password in YAML.
func (a *announced) extended(from, to int) int {
	if to >= len(a.text) || a.text[to] != ' ' || from > a.value {
		return to
	}
	name := a.start()
	line := lineBefore(a.text, name)
	if !a.hasWords(name, line) {
		return to
	}
	end := to
	for i := to; i < to+maxBlock; {
		c, next := a.quotes.read(a.text, i)
		if c == 0 || c == '\n' || c == '\x1b' {
			break
		}
		end, i = next, next
	}
	if m := another.FindStringIndex(a.text[to:end]); m != nil {
		end = to + m[0]
	}
	end = to + len(strings.TrimRight(a.text[to:end], " \t\r"))
	return trimmed(line+a.text[name:a.value], a.text, from, end)
}

// hasWords reports whether a value without quotes may have spaces. The name starts at name, after line.
func (a *announced) hasWords(name int, line string) bool {
	_, isKey := a.lineKey()
	switch separator := a.text[a.end:a.value]; {
	case separator == ":":
		return strings.Contains(line, "map[") // as Go prints it
	case separator == ": ":
		return isKey && strings.Contains(strings.ToLower(a.text[a.name:a.end]), "pass")
	case strings.TrimSpace(separator) != "=":
		return false
	case isKey && strings.TrimSpace(line) == "" && strings.Contains(a.text[name:a.end], "."):
		return true
	}
	return a.text[a.end] == '=' && setCommand.MatchString(line) || a.value == a.end+1 && isVariable(line) && !a.quotes.isOutside()
}

// isOutside reports whether no string is open.
func (q quoting) isOutside() bool { return q.level == 0 && !q.single }

// isVariable reports whether the line before a name ends with the quote of a string that is no script of a shell.
func isVariable(line string) bool {
	before := strings.TrimRight(line, "\\\"'")
	before = strings.TrimRight(before, " \t,\\\"'")
	return (strings.HasSuffix(line, `"`) || strings.HasSuffix(line, "'")) && !strings.HasSuffix(before, "c")
}
