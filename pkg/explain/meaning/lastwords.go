package meaning

import (
	"slices"
	"strings"
	"unicode"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// LastLine returns the last of the lines of a log that may say why a program failed, "" if there is none.
func LastLine(lines []string) string {
	if i := telling(lines); i >= 0 {
		return linesOf(lines).words(i)
	}
	return ""
}

// LineSign is what shows that the LastLine of a log is about an error.
type LineSign string

// The signs of a line.
const (
	SignError   LineSign = ""        // the line looks like an error
	SignUnknown LineSign = "Unknown" // nothing shows whether it is one
	SignInside  LineSign = "Inside"  // nothing shows whether it is an error, and more lines follow it
	SignNoError LineSign = "NoError" // the log ends with progress, and no line near its end looks like an error
	SignEmpty   LineSign = "Empty"   // there is no line: the log was read, and has no text
)

// LastLineOf is the LastLine of a program that ended with this exit code, with its sign. If the processor stopped it, only an error counts.
func LastLineOf(code int32, lines []string) (string, LineSign) {
	all := linesOf(lines)
	i := all.telling()
	if i < 0 {
		return "", SignError
	}
	sign := all.at(i).sign()
	complains := func(line string) bool { l := readLine(line); return l.kind != lineEmpty && l.sign() == SignError }
	if sign == SignNoError && slices.ContainsFunc(lines[max(0, len(lines)-maxCalmLines):], complains) {
		sign = SignUnknown
	}
	if cause.Faults(code) && sign != SignError {
		return "", SignError
	}
	words := all.words(i)
	if sign == SignUnknown && !all.endsWith(i, words) {
		sign = SignInside
	}
	return words, sign
}

// endsWith reports whether the words, which begin at a position, end with the last line of the log that has a letter or a digit.
func (l *logLines) endsWith(at int, words string) bool {
	for i := len(l.raw) - 1; i > at; i-- {
		if text := l.at(i).text; strings.ContainsFunc(text, isWord) {
			return strings.HasSuffix(strings.TrimRight(words, "."), strings.TrimRight(text, "."))
		}
	}
	return true
}

var (
	// complaint matches words of sentences about an error, and progress the beginning or the end of a sentence about what a program does.
	complaint = lazyregexp.New(`(?i)\b(?:no|not|none|never|non|without|mis[st]\w*|mis\w+ed|must|requir\w*|needs?|lacks?|wrong|bad|broken|corrupt\w*|un(?:\w*known|set|\w+able)|un(?:[^pzlmicrwt]\w{3,}|re[cs]\w+|terminat)ed|(?:in|im|il|ir|mal|dis)(?:valid|legal|comp\w+|suff\w+|poss\w+|correct|acc\w+|cons\w+|form\w+|allow\w+|connect\w+)|` +
		`expect\w*|too|exceed\w*|expired?|lost|kill\w*|terminat\w*|crash\w*|stop\w*|abort\w*|cancel\w*|conflict\w*|\w+flow|duplicate\w*|already|stuck|dead\w*|died|leak\w*|violat\w*|refus\w*|reject\w*|den(?:y|ied)|` +
		`fail\w*|err\w*|exception|faults?|problems?|trouble|bug|null|nil|nan|time-?outs?|timed|cannot|could|\w+n't|forbid\w*|exhaust\w*|mismatch\w*|empty|signal|core|panic\w*|fatal|severe|critical|exit\w*|retry\w*|giving|give|gave)\b|^[A-Z][a-z]+(?:[A-Z][a-z]+)+: `)
	progress = lazyregexp.New(`^\W*[A-Za-z][a-z]+(?:ing|ed)\b|(?i:^\W*(?:using|found|built|sent|ran|begin|start|step|done|ok|success|complete|finish)\b|\b(?:successfully|done|complete|completed|finished|ok|created|updated|success)\W*$)|(?:\.\.\.|…)$`)
)

// sign returns the sign of the line as the LastLine of a log.
func (l *logLine) sign() LineSign {
	switch {
	case l.isError(), l.kind == lineFinding, complaint.MatchString(l.text):
		return SignError
	case l.kind == lineQuiet, progress.MatchString(l.text):
		return SignNoError
	}
	return SignUnknown
}

// words returns the message at a position; if that only counts errors, with the first of them, which is below it.
func (l *logLines) words(i int) string {
	text := strings.ReplaceAll(l.sentence(i), "\t", " ")
	text = text[len(introduction.FindString(text)):]
	if className.MatchString(text) { // Its package says nothing.
		text = text[strings.LastIndexByte(text, '.')+1:]
	}
	if bareName.MatchString(text) || l.at(i).kind == lineFinding {
		text = strings.TrimSuffix(text, ":")
	}
	text = l.enclosed(i, unended.ReplaceAllString(text, ""))
	isHead := (strings.HasSuffix(text, ":") || l.at(i).kind == lineVague && bareName.MatchString(text)) && i+1 < len(l.raw) && (l.at(i+1).indented || i+2 == len(l.raw)) && l.at(i+1).kind != lineEmpty && !strings.HasPrefix(l.at(i+1).text, "- ")
	if !tallied.MatchString(text) && !isHead {
		return text + strings.Repeat(")", min(1, max(0, strings.Count(text, "(")-strings.Count(text, `"("`)-strings.Count(text, ")")))) // It ends in a later line.
	}
	for below := range l.raw[i+1 : min(len(l.raw), i+1+maxHeadLines)] {
		line := l.at(i + 1 + below)
		text = wording.Join(": ", strings.TrimRight(text, ":"), detailed.ReplaceAllString(line.text, ""))
		if line.indented {
			break
		}
	}
	return text
}

var (
	// tallied matches the number of the errors below a line, and detailed what Pydantic writes after each.
	tallied  = lazyregexp.New(`\b\d+ validation errors? for \S+$`)
	detailed = lazyregexp.New(` [(\[]type=.*[)\]]$`)
)

const (
	// maxPlainLines is the number of plain lines after an error that may still be about it.
	maxPlainLines = 6
	// maxCalmLines is the number of lines at the end of a log of which none may look like an error in a log without one.
	maxCalmLines = 20
	// maxHeadLines is the number of plain lines between an error and an indented one that may be a detail of it.
	maxHeadLines = 2
)

// telling returns the position of LastLine, -1 if there is none: that of the last error, of the one from which it follows, or, if
// there is none, that of the last of the lines that most likely say why; before a success at the end of the log, only an error counts.
func telling(raw []string) int { return linesOf(raw).telling() }

func (l *logLines) telling() int { return l.chained(l.firstOfBurst(l.last())) }

// last returns the position of the line that telling is about.
func (l *logLines) last() int {
	last, plain := -1, 0
	for i := len(l.raw) - 1; i >= 0; i-- {
		line := l.at(i)
		l.succeeds = l.succeeds || line.kind == lineSuccess
		if line.kind == lineSuccess && last >= 0 || plain >= maxPlainLines && line.kind != lineEmpty {
			return last
		}
		isBetter, isWhole := l.isBetter(i, last), line.isWhole()
		switch {
		case l.hasDetails(i, last), isWhole && !isBetter && line.isHead(l.at(last)): // The details of the error say more.
			return last
		case isWhole:
			return beneath(l, i)
		case line.kind == lineFinding && isBetter:
			return i
		case line.isElse():
			plain++
		case line.kind == lineAlarm && isBetter:
			plain = maxPlainLines - maxHeadLines
		}
		if isBetter {
			last = i
		}
	}
	return last
}

// hasDetails reports whether a line is no more than a name, and the next one, which is better, is indented below it.
func (l *logLines) hasDetails(i, next int) bool {
	line := l.at(i)
	return line.kind == lineVague && bareName.MatchString(line.text) && next == i+1 && l.at(next).indented
}

// isWhole reports whether the line is an error, and no detail of one.
func (l *logLine) isWhole() bool { return l.kind == lineAlarm && !l.isDetail() }

// isElse reports whether the line may be about something else than the error before it. A sentence that is not about what the program
// does is help.
func (l *logLine) isElse() bool {
	const least = 6 // words
	words := strings.Fields(l.text)
	numbers := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !strings.ContainsFunc(word, unicode.IsDigit) })
	isHelp := len(words) >= least && len(numbers) <= 1 && l.sign() == SignUnknown
	return l.kind == linePlain && !isHelp
}

// isBetter reports whether the line at a position says more than the one at the position last after it, or is advice that the
// latter belongs to; last is -1 if there is none.
func (l *logLines) isBetter(at, last int) bool {
	line := l.at(at)
	switch {
	case line.kind == lineEmpty, l.succeeds && line.kind != lineAlarm:
		return false
	case last < 0 || line.kind > l.at(last).kind:
		return true
	}
	after := l.at(last)
	if line.kind == lineMurmur && after.kind == lineMurmur {
		return systemError.MatchString(line.text) && !systemError.MatchString(after.text)
	}
	return line.kind == linePlain && after.kind == linePlain && hasAny(strings.ToLower(line.text), advices)
}

// systemError matches the text of an error of the operating system at the end of a line: the reason for what failed after it.
var systemError = lazyregexp.New(`(?i)(?:permission denied|operation not permitted|no such file or directory|connection (?:refused|reset by peer|timed out)|` +
	`(?:cannot allocate|out of) memory|no space left on device|read-only file system|no route to host|is a directory|not a directory|` +
	`input/output error|transport endpoint is not connected|stale file handle|resource temporarily unavailable|too many open files|device or resource busy|address already in use)\W*$`)

// isHead reports whether an error says less than a detail of it.
func (l *logLine) isHead(detail *logLine) bool {
	return strings.HasSuffix(l.text, ":") || (place.MatchString(l.text) || outcome.MatchString(l.text)) && detail.kind == lineAlarm
}

// isDetail reports whether the line is a detail of an error; an inner exception of .NET says more than the outer one.
func (l *logLine) isDetail() bool { return l.indented && !strings.HasPrefix(l.text, "--->") }

var (
	// wrapper matches the line of a program that reports the failure of another one, which it names, and child the end of one that has
	// the other's exit code.
	wrapper = lazyregexp.New(`^\S+: (?:(?i:error|fatal): )?([\w.-]+) failed\b`)
	child   = lazyregexp.New(`\bNCCL error in: |(?i)\b(?:exit (?:status|code)|return(?:ed)? code|rc)\W+\d+(?::? /\S.*)?\W*$`)
	// outcome matches an error that says only what failed, and place one that says only where.
	outcome = lazyregexp.New(`^(?:[\w.-]+: |[\w ]+ failed: )?(?:\[?[A-Za-z]+(?: \(\d+\))?[:\]]* )?[\w '"()-]*\b(?i:failed|failure)\b[\w -]*(?:: EOF)?[.!]?$|^(?:[\w-]+: )?(?:(?i:error|fatal): )?failed to [^:]+(?:: failed to [^:]+)*$|` +
		`^(?:[A-Za-z]+\W+)?(?:Error (?:during [\w ]+|executing (?:process|command)\b.*)|\d+ [\w/]+ (?:could not be \w+|failed))\W*$|The requested URL returned error: \d+$|\bafter \d+ (?:attempts|tries|trials|retries)\W*(?:, exiting \S+)?$`)
	// introduction is before the name of an exception, or the end of a statement before the error of a database, and className is that name without a message.
	introduction = lazyregexp.New(`^(?:[*•] |HTTP response body: |Exception in thread "[^"]*" |(?:Caused by:|Unhandled exception[.:]|Uncaught(?: exception)?:) ?|---> |(?:ALTER|CREATE|DROP|INSERT|UPDATE|DELETE|\)) .*;: )?`)
	className    = lazyregexp.New(`^[\w.$]*(?:Error|Exception):?$`)
	// unended matches the end of a text that only begins a list.
	unended  = lazyregexp.New(` \(hint: [^()]*\)$|\. [A-Z][^.:]*:$`)
	bareName = lazyregexp.New(`\b\w*(?:Error|Exception):?$`)
	place    = lazyregexp.New(`\bError in [\w ]+ \([^)]*\)$|\bfollowing (?:details|errors?|output)\b`)
)

// beneath returns the position of the error that the one at a position follows from: of a wrapper, the line of the program that
// it names, or the first of the errors directly before it; of a line about a child process, the last words of that; of one that says
// only what failed, or has only the level of an error, the error before it; otherwise, that of its cause.
func beneath(lines *logLines, at int) int {
	line := lines.at(at)
	if name := wrapper.Group(line.text); name != "" {
		return wrapped(lines, at, name)
	}
	isChild, isOutcome := child.MatchString(line.text), outcome.MatchString(line.text)
	if !isChild && !isOutcome && !line.ranked {
		return causeOf(lines, at)
	}
	for i, plain := at-1, 0; i >= 0 && plain < maxPlainLines; i-- {
		switch before := lines.at(i); {
		case before.isSpecific(), isChild && (before.kind == lineMurmur || strings.Contains(lines.raw[i], "NCCL WARN ")):
			return beneath(lines, i)
		case isOutcome && className.MatchString(before.text):
			return i
		case before.kind == lineSuccess, line.ranked && !slices.Contains([]lineKind{lineEmpty, lineVague, lineAlarm}, before.kind):
			return causeOf(lines, at)
		case before.kind == linePlain:
			plain++
		}
	}
	return causeOf(lines, at)
}

// wrapped returns the position of the line of the program with this name, or of the first of the errors directly before a position.
func wrapped(lines *logLines, at int, name string) int {
	for i := at - 1; i >= 0; i-- {
		if strings.HasPrefix(lines.at(i).text, name+": ") {
			return i
		}
	}
	for at > 0 && lines.at(at-1).kind == lineAlarm {
		at--
	}
	return at
}

// isError reports whether the line says that something failed.
func (l *logLine) isError() bool {
	return l.kind == lineVague || l.kind == lineMurmur || l.kind == lineAlarm
}

// isSpecific reports whether the line is an error that says more than that something failed.
func (l *logLine) isSpecific() bool {
	return l.kind == lineAlarm && !l.ranked && !child.MatchString(l.text) && !outcome.MatchString(l.text)
}

var (
	// errorName matches lines that begin with the name of an error, or with its level.
	errorName = lazyregexp.New(`^(?i:caused by): .*[^:]$|^---> |^(?:[\w./:-]+: |\[)?(?i:error|fatal|panic|critical|severe)\b\W+\S+ \S.*[^:]$|^[\w.$:]*(?:Error|Exception)\b\W+\S+ \S.*[^:]$`)
	// utility matches an error of a tool that a script calls for files: it often follows from the error before it.
	utility = lazyregexp.New(`^(?:rm|cp|mv|cat|tar|gzip|ls|stat|chmod|chown): |^\S+: (?:line |ligne )?\d+ ?: cd: `)
)

// causeOf returns the position of the error directly before the one at a position that has a name, if the latter has none, or that
// of the error before those of utilities; otherwise the position itself.
func causeOf(lines *logLines, at int) int {
	text := lines.at(at).text
	if errorName.MatchString(text) || element.MatchString(text) || systemError.MatchString(text) && !utility.MatchString(text) {
		return at
	}
	for i := at - 1; i >= 0; i-- {
		switch line := lines.at(i); {
		case line.kind > lineHint && line.kind != lineAlarm && (!utility.MatchString(text) || line.sign() != SignNoError):
			return at
		case line.kind == lineAlarm && (errorName.MatchString(line.text) && !outcome.MatchString(line.text) || utility.MatchString(text) && !utility.MatchString(line.text)):
			return i
		}
	}
	return at
}

// collision matches an error about what is there already: what an earlier attempt at the same work has left, or a lock that it holds.
var collision = lazyregexp.New(`(?i)\bis a duplicate of\b|\balready (?:exists?|running|locked|been (?:used|taken|created))\b|\bis(?: still)? in use\b|\bduplicate (?:key|column|entry|object|name)\b|\bDirty database\b|\block is held\b`)

// Collides reports whether a program failed because of what is there already.
func Collides(line string) bool { return collision.MatchString(line) }

// follows reports whether the line of a utility at a position follows from the error before it.
func follows(raw []string, at int) bool {
	return utility.MatchString(readLine(raw[at]).text) && causeOf(linesOf(raw[:at+1]), at) != at
}

// Tail returns the last n lines of a log, or, if its known error or its LastLine stands before those, the n lines that begin with it, and
// the number of lines after these: an error comes before its stack trace and before help.
func Tail(lines []string, n int) (tail []string, after int) {
	first, last := max(0, len(lines)-n), telling(lines)
	const anyError = 1 // The exit code is not known here.
	known := LineOfError(anyError, lines)
	for _, i := range []int{last, known} {
		if i >= 0 {
			first = min(first, i)
		}
	}
	if known >= first+n { // It says more than LastLine.
		first, last = known-n+1, -1
	}
	if last >= 0 && first == last && linesOf(lines).at(last).sign() == SignNoError {
		first = max(0, first-maxHeadLines) // They show whether something failed before.
	}
	end := min(first+n, len(lines))
	for last >= 0 && end < len(lines) && end > first+1 && telling(lines[:end]) > last {
		end-- // LastLine stays the same without the lines after these.
	}
	return lines[first:end], len(lines) - end
}

// WithoutMarks returns the lines of a log that have a letter or a digit.
func WithoutMarks(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.ContainsFunc(line, isWord) })
}

// frame matches a frame of a stack of Java, .NET, Node.js or ClickHouse.
var frame = lazyregexp.New(`^\s+at \S.*[)\d]$|^\s*\.\.\. \d+ (?:more|common frames)|^\s*\d+\. .*@ 0x[\da-f]+$`)

// WithoutFrames returns the lines of WithoutMarks that are no frames of a stack, or all of them if there are no others.
func WithoutFrames(lines []string) []string {
	lines = WithoutMarks(lines)
	if other := slices.DeleteFunc(slices.Clone(lines), frame.MatchString); len(other) > 0 {
		return other
	}
	return lines
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// lastWords returns the end of a message that wraps errors, its most specific part.
func lastWords(message string) string {
	words := wording.LastClauses(wording.Unwrapped(message), maxDetail)
	return strings.TrimSpace(words)
}

// ErrorIn returns the last error in a log that a program has ended, "" if there is none, or if it is about what is there already, as a
// script may expect that.
func ErrorIn(lines []string) string {
	all := linesOf(lines)
	at := all.telling()
	if at < 0 || all.at(at).kind != lineAlarm {
		return ""
	}
	if words := all.words(at); !Collides(words) {
		return words
	}
	return ""
}
