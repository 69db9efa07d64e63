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
	`\W*(?i:(?:error|elifecycle)\W+)?(?i:command|process|job|script|step|task)(?: (?:failed|completed|exited|finished))?:? (?:with )?(?:non-zero )?exit (?:code|status)\W+\d+\W*$`,
	`[^\pL\pN]*$`,                                                                      // rulers, and the marks below a line of code
	`at \S+[ (].*(?::\d+|\)|\bin )`, `at \S+:\d+`, `\.\.\. \d+ (?:more|common frames)`, // Java, .NET, Node.js
	`Node\.js v\d`, `npm (?:ERR!|error) (?:A complete log|Log files|[/\\~]|[A-Z]:\\|code |errno |$)|npm ERR!$|npm error$`,
	`goroutine \d+ \[`, `\S+\.go:\d+ \+0x`, `created by \S+`, `[\w./*()-]+\.[\w.*()-]+\((?:0x|\{|\.\.\.|\)$)`, // Go
	`note: run with .RUST_BACKTRACE`, `(?:from )?\S+:\d+:in [^']*'?$`, `#\d+ .*(?:\{main\}|\.php\(\d+\))`, `thrown in \S+ on line`, // Rust, Ruby, PHP
	`(?i:stack trace(?:back)?):$`, `\[C\]: in `, `\S+:\d+: in (?:main chunk|function|local|method|upvalue|field)\b`, // Lua
	`#?\d+[.:]? +(?:.*@ )?0x[\da-f]`, `\S+\(\S*\+0x[\da-f]+\) ?\[0x`, // C++, gdb, Rust
	`Execution halted`, `Calls: `, // R
	`make(?:\[\d+\])?: \*\*\* .*Error \d+`, `Tasks: TOP => `, `BUILD FAILED in `, `\* Try:$`, `\[ERROR\](?: (?:-> )?\[Help \d+\].*)?$`,
	`(?:DETAIL|HINT|CONTEXT|STATEMENT|LINE \d+): `, `PLAY RECAP `, `\S+ +: ok=\d+ `, // PostgreSQL, Ansible
	`(?i:npm )?\[?(?i:notice)\b`, `Sentry is attempting to send `, `Waiting up to [\d.]+ seconds$`, `Press (?i:ctrl)[-+]`,
	`\.\. \S+ pid \d+: Test failure`, `Primary job +terminated normally`, `a non-zero exit code\. Per user-direction`,
	`\S+ detected that one or more processes exited`, `the job to be terminated\. The first process`, `Process name: \[\[`, `Exit code: +\d+$`, // nccl-tests, Open MPI
	`\W*(?:(?:info|note|ERROR)\b\W*)?(?i:` + strings.Join([]string{ // hints
		`for (?:more|further|full) `, `to (?:see|get) (?:the )?(?:full|more) `,
		`(?:re-?run|run|try|see|visit|get more help)\b.*(?:--?[a-z]|https?://|\bmore\b|\bdocumentation\b)`,
	}, "|") + `)`,
}, "|") + `)`)

// LastLine returns the last of the lines of a log that may say why a program failed, "" if there is none.
func LastLine(lines []string) string {
	if i := telling(lines); i >= 0 {
		return logged(strings.TrimSpace(lines[i]))
	}
	return ""
}

var (
	// idle matches lines that report a state or success, of level INFO and below, and help.
	idle = lazyregexp.New(`^(?:\S+ ){0,2}\W*(?:INFO|DEBUG|TRACE)\b|\b(?:unchanged|created|configured|exiting)[.!…]*$|^(?i:usage:|done\b|see .* --help|(?:run|try|use) .*--help)`)
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
	last, advised, inBlock := -1, false, false
	for i, raw := range slices.Backward(lines) {
		line := logged(strings.TrimSpace(raw))
		switch isIdle := idle.MatchString(line); {
		case empty.MatchString(line):
		case vague.MatchString(line):
			last = max(last, i)
		case alarm.MatchString(line):
			return beneath(lines, i)
		case advised && i >= len(lines)-maxAdviceLines:
		case advice.MatchString(line) && last < 0:
			last, advised = i, true
		case !isIdle && isIndented(raw) && (last < 0 || inBlock):
			last, inBlock = max(last, i), true // The line that it is a detail of may report the error.
		case !isIdle && last < 0:
			return beneath(lines, i)
		case !isIdle:
			return last
		default:
			last = max(last, i)
		}
	}
	return last
}

// beneath returns the position of the error that the line at a position follows from: of a wrapper, the line of the program that
// it names, or the first of the errors directly before it; of a detail, the error above that it belongs to; otherwise, that of
// the line itself.
func beneath(lines []string, at int) int {
	is := func(i int, r *lazyregexp.Regexp) bool { return r.MatchString(logged(strings.TrimSpace(lines[i]))) }
	if isIndented(lines[at]) && !strings.HasPrefix(strings.TrimSpace(lines[at]), "--->") { // An inner exception of .NET says more.
		head := at
		for head > 0 && (isIndented(lines[head]) || lines[head] == "") {
			head--
		}
		if is(head, alarm) && !strings.HasSuffix(lines[head], ":") {
			return head
		}
	}
	name := wrapper.Group(logged(strings.TrimSpace(lines[at])))
	if name == "" {
		return at
	}
	for i, line := range slices.Backward(lines[:at]) {
		if strings.HasPrefix(logged(strings.TrimSpace(line)), name+": ") {
			return i
		}
	}
	for at > 0 && is(at-1, alarm) {
		at--
	}
	return at
}

func isIndented(line string) bool {
	return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
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
	// stamp matches a time at the beginning of a line, or the rank of a process whose line mpirun passes on.
	stamp = lazyregexp.New(`^(?:\[?(?:\d\d)?\d\d[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\s+|\[\d+,\d+\]<\w+>:\s*)`)
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
	line = strings.TrimPrefix(strings.TrimLeft(line, "│|╷╵ "), "{ ") // a box around an error, as of Terraform; an object of Node.js
	return strings.TrimPrefix(line, stamp.FindString(line))
}

// lastWords returns the end of a message that wraps errors, its most specific part.
func lastWords(message string) string {
	return wording.LastClauses(wording.Unwrapped(message), maxSaid)
}
