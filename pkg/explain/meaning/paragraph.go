package meaning

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

const (
	// wrappedAt is the least width at which programs wrap paragraphs.
	wrappedAt = 58
	// boxWidth is the width of the text in a box of Terraform.
	boxWidth = 76
)

var (
	// lowerWord matches the first word of a line in the middle of a sentence: no name of a program before its message, path or assignment.
	lowerWord = lazyregexp.New(`^[a-z][a-z'-]*[,.;)]?(?: |$)`)
	// midway matches the end of a line that may go on, and unfinished one after which a sentence has to.
	midway     = lazyregexp.New(`[\pL,.]$`)
	unfinished = lazyregexp.New(`(?:,|\b(?:and|or|the|an?|of|to|for|in|is|are|was|be|by|with|that|which|from|this|as|at|on|not))$`)
)

// continues reports whether the line at a position continues the sentence of the line before it, which a program has wrapped.
func (l *logLines) continues(i int) bool {
	line, before := l.at(i), l.at(i-1)
	if strings.HasPrefix(l.raw[i], "│") && strings.HasPrefix(l.raw[i-1], "│") { // It wraps where the next word has no room.
		next, _, _ := strings.Cut(line.text, " ")
		return next != "" && before.text != "" && !line.indented && !before.indented && utf8.RuneCountInString(before.text+" "+next) > boxWidth
	}
	if inBox(l.raw[i]) && inBox(l.raw[i-1]) { // It wraps at any word.
		return line.text != "" && !line.indented && !before.indented && midway.MatchString(before.text) && len(before.text) >= wrappedAt
	}
	word := lowerWord.FindString(line.text)
	return word != "" && len(before.text)+len(word) >= wrappedAt && midway.MatchString(before.text) &&
		line.indented == before.indented && line.kind != lineEmpty && before.kind != lineEmpty && strings.HasPrefix(strings.TrimLeft(l.raw[i], " │\t"), word)
}

// inBox reports whether a line is in a box around an error, as Terraform and PowerShell draw it.
func inBox(raw string) bool { return boxed.MatchString(raw) || strings.HasPrefix(raw, "│") }

// sentence returns the text at a position: of a line in a wrapped paragraph, the sentence in which the line ends.
func (l *logLines) sentence(i int) string {
	first, last := i, i
	for first > 0 && l.continues(first) {
		first--
	}
	if initial, _ := utf8.DecodeRuneInString(l.at(first).text); !unicode.IsUpper(initial) {
		return l.at(i).text // Messages that begin with small letters are no paragraph.
	}
	for last+1 < len(l.raw) && l.continues(last+1) && (first < last || unfinished.MatchString(l.at(last).text) || inBox(l.raw[last])) {
		last++
	}
	var before, after []string
	for n := first; n <= last; n++ {
		if n <= i {
			before = append(before, l.at(n).text)
		} else {
			after = append(after, l.at(n).text)
		}
	}
	begin, rest := strings.Join(before, " "), strings.Join(after, " ")
	if i > first {
		begin = begin[strings.LastIndex(begin, ". ")+1:]
	}
	if end, _, found := strings.Cut(rest, ". "); found {
		rest = end
	}
	return strings.TrimSpace(begin + " " + rest)
}
