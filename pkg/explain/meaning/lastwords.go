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
	`\++ `, `(?:exit|exited with)(?: (?:status|code):?)? \d+\.?$`, `command terminated`, `(?:Killed|Terminated|Done|done)\.?$`,
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

// telling returns the position of LastLine, -1 if there is none.
func telling(lines []string) int {
	for i, line := range slices.Backward(lines) {
		if !empty.MatchString(logged(strings.TrimSpace(line))) {
			return i
		}
	}
	return -1
}

// Tail returns the last n lines of a log, or, if its LastLine stands before those, the n lines that begin with it: an error comes
// before its stack trace.
func Tail(lines []string, n int) []string {
	first := max(0, len(lines)-n)
	if i := telling(lines); i >= 0 {
		first = min(first, i)
	}
	return lines[first:min(first+n, len(lines))]
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
		return text
	}
	return strings.TrimPrefix(line, stamp.FindString(line))
}

// lastWords returns the end of a message that wraps errors, its most specific part.
func lastWords(message string) string {
	return wording.LastClauses(wording.Unwrapped(message), maxSaid)
}
