package meaning

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// blocks are the errors that programs write in several lines, with what they say in one.
var blocks = []struct {
	lines *lazyregexp.Regexp
	text  func(m []string) string
}{
	{ // npm, which only has fields
		lazyregexp.New(`^npm (?:ERR!|error) code (?:EACCES|EPERM)\nnpm \S+ syscall (\w+)\nnpm \S+ path (.+)`),
		func(m []string) string { return "npm error EACCES: permission denied, " + m[1] + " '" + m[2] + "'" },
	},
	{ // an exception of .NET that says what failed, and the innermost one
		lazyregexp.New(`^\s*((?:Unhandled exception\. )?[\w.]+(?: \(\w+\))?: .*["'\d].*[^.)\n])(?:\n\s*---> .*)*\n\s*---> (?:[\w.+]+(?: \(\w+\))?: )?(.+)`),
		func(m []string) string { return joinCause(m[1], m[2]) },
	},
	{ // Rust, with a list of causes
		lazyregexp.New(`^(?:(\S.*)\n\n?Caused by:\n *(?:0: )?|Error: ?\n *0: )(\S.*(?:\n  .*)*)`),
		causeList,
	},
	{ // Terraform, with a summary, the place in its code, and the sentence that says why
		lazyregexp.New(`^│ (Error: [^:\n]{1,60})\n(?:[│ ]*\n)?(?:│  +(?:with|on) .*\n(?:│ +\d+: .*\n)*│ *\n)*│ (?:Error message: )?([^ \n](?:[^.\n]|\.\S)*(?:\n│ \S(?:[^.\n]|\.\S)*)*)`),
		func(m []string) string {
			return m[1] + ": " + strings.ReplaceAll(labels.ReplaceAllString(m[2], ""), "\n│", "")
		},
	},
	{ // Spring Boot, with a property of its configuration that it does not accept
		lazyregexp.New(`^\s*Property: (\S+)\n\s*Value: .*\n(?:\s*Origin: .*\n)?\s*Reason: (.+)`),
		func(m []string) string { return "Property " + m[1] + " is invalid: " + m[2] },
	},
	{ // one error of HashiCorp's list of errors
		lazyregexp.New(`^(\S.*): 1 error occurred:\n\s*\* (.+)`),
		func(m []string) string { return joinCause(m[1], m[2]) },
	},
	{ // Symfony, which wraps within words
		lazyregexp.New(`^  (\S.{56,}\S)  \n((?:  \S.{56,}\S  \n)*)  (\S.*)`),
		func(m []string) string {
			return m[1] + strings.NewReplacer("  \n  ", "", "  \n", "").Replace(strings.TrimPrefix(m[2], "  ")) + strings.TrimSpace(m[3])
		},
	},
}

// labels matches the lines after a sentence that begin with one of "Lock Info:".
var labels = lazyregexp.New(`(?s)\n│ [A-Z][\w ]*:(?:\n|$).*`)

// maxBlockLines is the maximum number of the lines of a block.
const maxBlockLines = 12

// unfolded returns the lines of a log with each error that stands in several of them in the place of its first line; the others of
// these are empty.
func unfolded(raw []string) []string {
	lines := raw
	for i := range raw {
		if strings.HasSuffix(strings.TrimRight(lines[i], " \r"), "{") {
			if text, count := wholeObject(lines[i:]); count > 0 {
				lines = slices.Concat(lines[:i], []string{text}, make([]string, count-1), lines[i+count:])
			}
		}
		if !mayBegin(lines[i], lines[i+1:min(len(raw), i+3)]) {
			continue
		}
		text := strings.Join(lines[i:min(len(raw), i+maxBlockLines)], "\n")
		for b := range blocks {
			if m := blocks[b].lines.FindStringSubmatch(text); m != nil {
				if &lines[0] == &raw[0] {
					lines = slices.Clone(raw)
				}
				lines[i] = blocks[b].text(m)
				clear(lines[i+1 : i+1+strings.Count(m[0], "\n")])
				break
			}
		}
	}
	return lines
}

// mayBegin reports whether a line before these may begin a block: a search for words costs less than a regular expression.
func mayBegin(line string, next []string) bool {
	return strings.HasPrefix(line, "npm ") || strings.HasPrefix(line, "│ Error: ") || strings.HasPrefix(line, "Error:") || strings.HasSuffix(line, "1 error occurred:") || strings.HasSuffix(line, "  ") ||
		slices.ContainsFunc(next, func(text string) bool {
			return strings.Contains(text, "---> ") || strings.Contains(text, "    Value: ") || strings.Contains(text, "Caused by:") || strings.Contains(text, "Error message:")
		})
}

var (
	// numberedCause matches the number of a cause in a list, and codeMark a line of code, or a mark below it.
	numberedCause = lazyregexp.New(`^ +\d+: `)
	codeMark      = lazyregexp.New(`^\s*(?:\d+ )?\|`)
)

// causeList returns an error with its causes, the last one with its last line.
func causeList(m []string) string {
	lines, detail := strings.Split(m[2], "\n"), ""
	text := lines[0]
	if !outcome.MatchString(m[1]) { // Otherwise its causes say more.
		text = joinCause(m[1], text)
	}
	for _, line := range lines[1:] {
		switch number := numberedCause.FindString(line); {
		case number != "":
			text, detail = joinCause(text, line[len(number):]), ""
		case !codeMark.MatchString(line):
			detail = strings.TrimSpace(line)
		}
	}
	return joinCause(text, detail)
}

// joinCause returns an error with its cause, if it does not have that already.
func joinCause(text, why string) string {
	if strings.Contains(text, why) {
		return text
	}
	return wording.Join(": ", text, why)
}

// firstOfBurst returns the position of the first of the errors of the same program that directly precede the one at a position.
func (l *logLines) firstOfBurst(at int) int {
	if at < 0 || l.at(at).kind != lineAlarm {
		return at
	}
	program := programName.Group(l.at(at).text)
	for at > 0 && program != "" && !hasAny(program, errorWords) && !hasAny(program, failures) && l.at(at-1).isSpecific() && programName.Group(l.at(at-1).text) == program {
		at--
	}
	return at
}

// directCause matches an exception of Python, the words before the next one, which follows from it, and the stack of that one. detail matches
// what a message has that says more than what failed.
var (
	directCause = lazyregexp.New(`(?m)^\S.*\n(?:\S.*\n)*?\n?The above exception was the direct cause of the following exception:\n+Traceback .*(?:\n .*)*\z`)
	detail      = lazyregexp.New(`: .*(?:["'\d/=<>@:]|\w\.\w)`)
)

var (
	// exceptions matches the names of exceptions before a message of Java, and concrete what a message has that says what it is about.
	exceptions = lazyregexp.New(`^(?:Exception in thread "[^"]*" |Caused by: )?(?:[\w.$]+(?:Error|Exception)(?:: |$))+`)
	concrete   = lazyregexp.New(`["'\d/=<>@]|\w\.\w`)
)

// enclosed returns the text of the last cause of an exception of Java at a position, after the nearest exception that follows from it and
// says what it is about, if the cause does not.
func (l *logLines) enclosed(at int, text string) string {
	message := func(i int) string { return exceptions.ReplaceAllString(l.at(i).text, "") }
	if !strings.HasPrefix(l.at(at).text, "Caused by:") || concrete.MatchString(message(at)) {
		return text
	}
	for i := at - 1; i >= 0 && (l.at(i).kind == lineEmpty || errorName.MatchString(l.at(i).text)); i-- {
		if l.at(i).kind != lineEmpty && concrete.MatchString(message(i)) {
			return joinCause(strings.TrimRight(message(i), "."), cmp.Or(message(at), text))
		}
	}
	return text
}

// chained returns the position of the exception of Python from which the one at a position follows, if the latter says only what failed;
// otherwise the position itself.
func (l *logLines) chained(at int) int {
	for at > 0 && !detail.MatchString(l.raw[at]) {
		before := strings.Join(l.raw[:at], "\n")
		if found := directCause.FindStringIndex(before); found != nil {
			at = strings.Count(before[:found[0]], "\n")
			continue
		}
		break
	}
	return at
}

// wrappedAt is the least width at which programs wrap paragraphs, and boxWidth that of the text in a box of Terraform.
const wrappedAt, boxWidth = 58, 76

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
	word := lowerWord.FindString(line.text)
	return word != "" && len(before.text)+len(word) >= wrappedAt && midway.MatchString(before.text) &&
		line.indented == before.indented && line.kind != lineEmpty && before.kind != lineEmpty && strings.HasPrefix(strings.TrimLeft(l.raw[i], " │\t"), word)
}

// sentence returns the text at a position: of a line in a wrapped paragraph, the sentence in which the line ends.
func (l *logLines) sentence(i int) string {
	first, last := i, i
	for first > 0 && l.continues(first) {
		first--
	}
	if initial, _ := utf8.DecodeRuneInString(l.at(first).text); !unicode.IsUpper(initial) {
		return l.at(i).text // Messages that begin with small letters are no paragraph.
	}
	for last+1 < len(l.raw) && l.continues(last+1) && (first < last || unfinished.MatchString(l.at(last).text) || strings.HasPrefix(l.raw[last], "│")) {
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
