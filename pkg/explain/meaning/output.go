package meaning

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// What the log of a program that has not failed says about its work.
var (
	// failedWork matches what scripts print about a failure of their work, and worked about a success.
	failedWork = lazyregexp.New(`(?i)\b(?:could ?n[o']t|failed to|unable to|cannot) (?:back ?up|upload|dump|copy|export|restore|migrate|sync|save|archive)\b|\b(?:back-?up|upload|dump|copy|export|restore|migration|sync|snapshot)\b(?: \S+){0,4} (?:has )?failed\b`)
	worked     = lazyregexp.New(`(?i)\bsuccess|\bsucceeded|\buploaded\b`)
	// harmless matches what is no failure, or one of something else than the work.
	harmless = lazyregexp.New(`(?i)\b(?:0|no|without|if|unless)\b|metric|traces?\b|spans?\b|telemetry|analytics|sentry|otlp`)
)

// FailedWork returns the last line in which a program reports that its work failed, or "" if it then retries or succeeds.
func FailedWork(raw []string) string {
	for i, lines := len(raw)-1, linesOf(raw); i >= 0; i-- {
		switch text := lines.at(i).text; {
		case worked.MatchString(text), overcome.MatchString(text), lines.at(i).kind == lineSuccess:
			return ""
		case lines.at(i).kind == lineAlarm && failedWork.MatchString(text) && !harmless.MatchString(text) && !utility.MatchString(text):
			return lines.words(i)
		}
	}
	return ""
}

var (
	// boast matches a line in which a program reports its own success, and overcome an error after which it tries again.
	boast = lazyregexp.New(`^\W*(?:[\w./:-]+ ){0,5}(?i:completed?|finished|done|succeeded|success(?:ful)?)(?: (?i:successfully))?\W*$`)
	// noErrors matches a count of errors that there were none of.
	noErrors = lazyregexp.New(`(?i)\b(?:errors?|failures?)\b["']?(?: \w+)?\s*[:=]\s*0\b`)
	overcome = lazyregexp.New(`(?i)\bretr(?:y|ies|ying)\b|\b(?:try|trying) again\b|\battempt\b`)
)

// warned matches a record with an error, whatever its level.
var warned = lazyregexp.New(`[,{ ]"?err(?:or)?"?[=:] ?"[^"]`)

// nextRun matches what a run leaves to another one.
var nextRun = lazyregexp.New(`(?i)\bnext (?:run|time|backup|schedule)\b`)

// warningAtEnd returns the last line if it is a warning about an error of the work that this run does not overcome, otherwise "".
func (l *logLines) warningAtEnd() string {
	i := len(l.raw) - 1
	if i < 0 || l.at(i).kind != lineMurmur || !warned.MatchString(l.raw[i]) {
		return ""
	}
	if text := l.at(i).text; harmless.MatchString(text) || overcome.MatchString(text) && !nextRun.MatchString(text) {
		return ""
	}
	return l.words(i)
}

// ErrorAtEnd returns the ErrorIn a log after which the program did nothing else, or the error of a warning in its last line; "" if there is
// none. boasts reports whether the program printed a success after it.
func ErrorAtEnd(raw []string) (words string, boasts bool) {
	lines := linesOf(raw)
	if words = lines.warningAtEnd(); words != "" {
		return words, false
	}
	for i := len(raw) - 1; i >= 0 && lines.at(i).kind != lineAlarm; i-- {
		line := lines.at(i)
		isBoast := boast.MatchString(line.text)
		if boasts = boasts || isBoast; !line.indented && (line.kind == lineSuccess || line.sign() == SignNoError && line.kind != lineEmpty && !isBoast) {
			return "", false
		}
	}
	if words = ErrorIn(raw); boasts && (overcome.MatchString(words) || noErrors.MatchString(words)) {
		return "", false
	}
	return words, boasts
}

// changing matches the parts of a line that differ each time: numbers, times and ids.
var changing = lazyregexp.New(`[0-9a-f]*\d[0-9a-f.:-]*`)

// Repeated returns the last error that a log has more than once, without its level: the program keeps trying and failing. It returns "" if
// there is no such error, or if the log goes on with something else.
func Repeated(raw []string) string {
	lines, times := linesOf(raw), map[string]int{}
	isError := func(i int) bool {
		kind := lines.at(i).kind
		return (kind == lineAlarm || kind == lineMurmur) && !lines.at(i).isDetail()
	}
	for i := range raw {
		if isError(i) {
			times[changing.ReplaceAllString(lines.at(i).text, "0")]++
		}
	}
	for i, others := len(raw)-1, 0; i >= 0 && others < maxPlainLines && len(times) > 0; i-- {
		switch line := lines.at(i); {
		case line.kind == lineSuccess:
			return ""
		case isError(i) && times[changing.ReplaceAllString(line.text, "0")] > 1:
			text := lines.words(i)
			return strings.TrimLeft(text[len(level.FindString(text)):], " :]")
		case line.kind > lineHint:
			others++
		}
	}
	return ""
}
