package meaning

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// empty matches lines of a log that do not say why a program failed: commands that a shell traces, exits, frames of a stack
// trace, and what runtimes and tools print after an error.
var empty = lazyregexp.New(`^(?:` + strings.Join([]string{
	`\++ `, `(?i:error: )?(?:exit|exited with)(?: (?:status|code):?)? \d+\.?$`, `command terminated`, `(?i:killed|terminated|done|finished|exiting|aborting|bye)[.!…]*$`,
	`[^\pL\pN]*$`,                                                                      // rulers, and the marks below a line of code
	`at \S+[ (].*(?::\d+|\)|\bin )`, `at \S+:\d+`, `\.\.\. \d+ (?:more|common frames)`, // Java, .NET, Node.js
	`Node\.js v\d`, `npm (?:ERR!|error) (?:A complete log|Log files|[/\\~]|[A-Z]:\\|code |errno |$)|npm ERR!$|npm error$`,
	`goroutine \d+ \[`, `\S+\.go:\d+ \+0x`, `created by \S+`, `[\w./*()-]+\.[\w.*()-]+\((?:0x|\{|\.\.\.|\)$)`, // Go
	`note: run with .RUST_BACKTRACE`, `from \S+:\d+:in `, `#\d+ .*(?:\{main\}|\.php\(\d+\))`, `thrown in \S+ on line`, `Stack trace:$`, // Rust, Ruby, PHP
	`Execution halted`, `Calls: `, // R
	`make(?:\[\d+\])?: \*\*\* .*Error \d+`,
}, "|") + `)`)

// LastLine returns the last of the lines of a log that may say why a program failed, "" if there is none.
func LastLine(lines []string) string {
	if i := telling(lines); i >= 0 {
		return logged(strings.TrimSpace(lines[i]))
	}
	return ""
}

var (
	// idle matches lines that report a state or success, and help.
	idle = lazyregexp.New(`\b(?:unchanged|created|configured|exiting)[.!…]*$|^(?i:usage:|done\b|see .* --help|(?:run|try|use) .*--help)`)
	// vague matches lines about the end of a program that say nothing about its cause.
	vague = lazyregexp.New(`^(?i:(?:error: )?(?:aborting|timed out waiting for the condition)\b)`)
	// alarm matches lines that report an error, and the elements of a list of errors.
	alarm = lazyregexp.New(`(?i)\b(?:\w*error|\w*exception|fatal|panic)(?:[:\]]|\b.*:)|\b(?:is invalid|not installed|not found|denied|forbidden|failed|refused|unable to|cannot|can't|could not|couldn't|timed out)\b|^[*•] `)
	// advice matches lines that say what a reader may do, and the rest of such a text: they follow an error.
	advice = lazyregexp.New(`(?i)\b(?:please|not recommended|you (?:can|may|should)|can be used to|try again|for more information)\b`)
	// wrapper matches the line of a program that reports the failure of another one.
	wrapper = lazyregexp.New(`^\S+: (?:(?i:error|fatal): )?([\w.-]+) failed\b`)
)

// maxAdviceLines is the number of lines before the last one that are searched for the error that advice follows.
const maxAdviceLines = 20

// telling returns the position of LastLine, -1 if there is none: a line that reports an error goes before ones about a state or
// with advice after it, and the line of the program that failed before that of the program that ran it.
func telling(lines []string) int {
	last, advised := -1, false
	for i, line := range slices.Backward(lines) {
		line = logged(strings.TrimSpace(line))
		switch isIdle := idle.MatchString(line); {
		case empty.MatchString(line):
		case vague.MatchString(line):
			if last < 0 {
				last = i
			}
		case alarm.MatchString(line):
			return beneath(lines, i)
		case advised && i >= len(lines)-maxAdviceLines:
		case advice.MatchString(line) && last < 0:
			last, advised = i, true
		case !isIdle && last < 0:
			return beneath(lines, i)
		case !isIdle:
			return last
		case last < 0:
			last = i
		}
	}
	return last
}

// beneath returns the position of the line before a wrapper that is from the program that it names, otherwise that of the line itself.
func beneath(lines []string, at int) int {
	name := wrapper.Group(logged(strings.TrimSpace(lines[at])))
	if name == "" {
		return at
	}
	for i, line := range slices.Backward(lines[:at]) {
		if strings.HasPrefix(logged(strings.TrimSpace(line)), name+": ") {
			return i
		}
	}
	return at
}

// Tail returns the last n lines of a log, or, if its known error or its LastLine stands before those, the n lines that begin with it:
// an error comes before its stack trace and before help.
func Tail(lines []string, n int) []string {
	first := max(0, len(lines)-n)
	const anyError = 1 // The exit code is not known here.
	for _, i := range []int{telling(lines), LineOfError(anyError, lines)} {
		if i >= 0 {
			first = min(first, i)
		}
	}
	end := min(first+n, len(lines))
	for end < len(lines) && end > first+1 && telling(lines) >= 0 && telling(lines[:end]) > telling(lines) {
		end-- // LastLine stays the same without the lines after these.
	}
	return lines[first:end]
}

// WithoutMarks returns the lines of a log that have a letter or a digit.
func WithoutMarks(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.ContainsFunc(line, isWord) })
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

var (
	// stamp matches a time at the beginning of a line.
	stamp = lazyregexp.New(`^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\s+`)
	// field matches the message and the error of a line in the format logfmt.
	field = lazyregexp.New(`\b(msg|message|error|err)=("(?:[^"\\]|\\.)*"|\S+)`)
)

// logged returns the message of a structured line of a log (JSON, logfmt) with its error, and other lines without their time.
func logged(line string) string {
	parts := map[string]string{}
	if strings.HasPrefix(line, "{") {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil {
			for name, value := range fields {
				if text, is := value.(string); is {
					parts[name] = text
				}
			}
		}
	} else if strings.Contains(line, "level=") {
		for _, m := range field.FindAllStringSubmatch(line, -1) {
			parts[m[1]] = m[2]
			if text, err := strconv.Unquote(m[2]); err == nil {
				parts[m[1]] = text
			}
		}
	}
	if text := wording.Join(": ", cmp.Or(parts["msg"], parts["message"]), cmp.Or(parts["error"], parts["err"])); text != "" {
		return strings.Join(strings.Fields(text), " ")
	}
	line = strings.TrimLeft(line, "│|╷╵ ") // a box around an error, as Terraform draws it
	return strings.TrimPrefix(line, stamp.FindString(line))
}

// lastWords returns the end of a message that wraps errors, its most specific part.
func lastWords(message string) string {
	return wording.LastClauses(wording.Unwrapped(message), maxSaid)
}
