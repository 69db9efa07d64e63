package meaning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

var (
	// placeInScript matches the script and the line with which a shell begins an error.
	placeInScript = lazyregexp.New(`^\S+: (?:line )?\d+: `)
	// sourceLine matches a line of code, which looks like an address.
	sourceLine = lazyregexp.New(`\.(?:lua|py|rb|js|ts|go|java|php|pl|rs|cc?|cpp|sh):\d+$`)
	// stackFrame matches a line of a stack trace, or of hints and summaries after an error, which names no error.
	stackFrame = lazyregexp.New(`^(?:\s|at |\.\.\. \d+ more|goroutine \d+ |Traceback |main\.|\S+\.go:\d+)|^\S*$|^[=!]{5,} |^(?:\[rank\d+\]: ?)?(?:CUDA kernel errors might be|For debugging consider passing|Compile with .TORCH_USE_CUDA_DSA)|^fatal: Could not read from remote repository|^fatal error: newosproc|^Please make sure you have the correct access rights|^and the repository exists`)
	// unknownError matches a line that reports an error with an unknown meaning, after which errors in earlier lines do not
	// count.
	unknownError = lazyregexp.New(`^(?:[\w.]*(?:Error|Exception)\b|panic: |(?i:fatal|critical)\b)`)
)

const (
	// maxErrorLines is the number of lines that are searched at the end of a message.
	maxErrorLines = 40
	// maxCasualLines is the number of lines at the end that are searched for casual errors, apart from stack traces.
	maxCasualLines = 3
	// maxAnswerLines is the number of lines after an error that are searched for the answer of the server.
	maxAnswerLines = 10
)

// StartErrorIn returns the error that a container runtime or the kubelet reports about a container that it cannot start; nil
// if its meaning is unknown.
func StartErrorIn(message string) *KnownError {
	return knownError(0, strings.TrimSpace(message), slices.Concat(startErrors, setupErrors))
}

// KnownErrorIn returns the last error with a known meaning in a message, or in the end of a log, of a container with this
// exit code; nil if there is none, or if another error follows it.
func KnownErrorIn(code int32, lines ...string) *KnownError {
	var all []string
	for _, text := range lines {
		all = append(all, strings.Split(text, "\n")...)
	}
	known, _ := locate(code, all)
	return known
}

// LineOfError returns the position of the line that reports the error of KnownErrorIn, -1 if there is none.
func LineOfError(code int32, lines []string) int {
	_, at := locate(code, lines)
	return at
}

// locate returns the last error with a known meaning, and the position of its line. It prefers an earlier error to one that
// usually follows from another.
func locate(code int32, all []string) (*KnownError, int) {
	all = unfolded(all)
	var late *KnownError
	lateAt, after := -1, 0
	for at := len(all) - 1; at >= max(0, len(all)-maxErrorLines); at-- {
		line := strings.TrimRight(all[at], " \t\r")
		known := knownIn(code, line)
		switch {
		case known == nil, follows(all, at), known.row().casual && (after >= maxCasualLines || isAlternative(all, at)):
		case !known.row().isLate:
			known, at = leading(code, all, at, known)
			known, at = firstDenied(all, at, known)
			if whole := knownInText(code, linesOf(all).words(at)); known.Subject == "" && whole != nil && whole.Kind == known.Kind {
				known = whole
			}
			known.addAnswer(all[at:])
			known.addAccess(all)
			return known, at
		case late == nil || late.Kind != known.Kind:
			known.addAnswer(all[at:])
			late, lateAt = known, at
		}
		switch {
		case stackFrame.MatchString(line), readLine(line).kind <= lineHint:
		case (known == nil || !known.row().isLate) && isUnknown(line):
			return late, lateAt
		default:
			after++
		}
	}
	return late, lateAt
}

// isUnknown reports whether a line reports an error with an unknown meaning that says more than what failed.
func isUnknown(line string) bool {
	return unknownError.MatchString(line) && !outcome.MatchString(line) && !child.MatchString(line) && !slices.Contains([]lineKind{lineEmpty, lineVague}, readLine(line).kind)
}

// maxLead is the number of lines before an error in which one that it follows from may be: a script may go on after an earlier one.
const maxLead = 2

// leading returns the error from which a known one in a line follows, with the position of its line; the known one if there is none.
func leading(code int32, all []string, at int, known *KnownError) (*KnownError, int) {
	leads := func(r *errorRow) bool { return slices.Contains(r.leads, known.Kind) }
	if lists.First(programErrors, leads) == nil {
		return known, at
	}
	for i := at - 1; i >= max(0, at-maxLead); i-- {
		if root := knownIn(code, strings.TrimRight(all[i], " \t\r")); root != nil && leads(root.row()) {
			return root, i
		}
	}
	return known, at
}

// escapedEnd matches the end of a line in a text with escapes.
var escapedEnd = lazyregexp.New(`(?:\\+r)?\\+n`)

var errorsKnown = newMemo()

// codedLine is a line of the log of a container with an exit code.
type codedLine struct {
	code int32
	line string
}

// knownIn returns the error of a line, or of the lines in the text of a record, nil if it has none with a known meaning.
func knownIn(code int32, line string) *KnownError {
	known := memoized(errorsKnown, codedLine{code, line}, line, func() *KnownError { return errorOf(code, line) })
	if known == nil {
		return nil
	}
	mine := *known // The caller may add to it.
	return &mine
}

func errorOf(code int32, line string) *KnownError {
	if strings.Contains(line, `"`) && escapedEnd.MatchString(line) {
		if known, _ := locate(code, strings.Split(escapedEnd.ReplaceAllString(line, "\n"), "\n")); known != nil {
			return known
		}
	}
	if strings.HasPrefix(line, "warning ") { // Yarn goes on.
		return nil
	}
	if strings.Contains(line, `{"`) {
		if text, _, is := structured(line); is {
			if known := knownInText(code, text); known != nil {
				return known
			}
		}
	}
	return knownInText(code, line)
}

// knownInText returns the error of a message, or of a line as it is; nil if it has none with a known meaning.
func knownInText(code int32, text string) *KnownError {
	if known := knownError(code, text, startErrors); known != nil {
		return known
	}
	if known := knownError(code, text, programErrors); known == nil || !slices.Contains([]ErrorKind{ErrorFileMissing, ErrorSharedMemory, ErrorUsage, ErrorOutOfMemory}, known.Kind) || !strings.Contains(text, "ERROR:  ") && !strings.Contains(text, "ResponseError") {
		return known
	}
	return nil // The file or the command is one of a server.
}

// hasHint reports whether a line in lower case has one of the hints, which bars separate.
func hasHint(lower, hints string) bool {
	for hint := range strings.SplitSeq(hints, "|") {
		if strings.Contains(lower, hint) {
			return true
		}
	}
	return false
}

// element matches an element of a list.
var element = lazyregexp.New(`^\s*[*•] `)

// isAlternative reports whether a line is an element of a list that has more: of several ways that a program tried, only the last
// may say why it failed.
func isAlternative(lines []string, at int) bool {
	return at+1 < len(lines) && element.MatchString(lines[at]) && element.MatchString(lines[at+1])
}

// addAnswer puts the words of the server, if it finds them in the line of the error or those after it, before its subject. A subject that the
// line lacks may be in the indented lines that continue it, as libpq writes them.
func (e *KnownError) addAnswer(after []string) {
	if e.Subject == "" {
		rest := after[1:min(len(after), 1+maxAnswerLines)]
		if end := slices.IndexFunc(rest, func(line string) bool { return !readLine(line).indented }); end >= 0 {
			rest = rest[:end]
		}
		e.Subject = e.row().subjectIn(strings.Join(strings.Fields(strings.Join(rest, " ")), " "))
	}
	if e.row().answer == nil {
		return
	}
	for _, line := range after[:min(len(after), 1+maxAnswerLines)] {
		if words := e.row().answer.Group(line); words != "" {
			if e.Subject != "" {
				words = fmt.Sprintf("%s (%s)", strings.TrimRight(words, "."), e.Subject)
			}
			e.Subject = words
			return
		}
	}
}

func knownError(code int32, line string, rows []errorRow) *KnownError {
	lower := strings.ToLower(line)
	found := first(rows, func(r *errorRow) bool { return r.match(code, line, lower) != nil },
		func(r, other *errorRow) bool { return slices.Contains(r.yieldsTo, other.kind) })
	if found == nil {
		return nil
	}
	named := slices.DeleteFunc(found.match(code, line, lower)[1:], func(s string) bool { return s == "" })
	known := &KnownError{Kind: found.kind, Subject: strings.TrimSuffix(strings.Join(named, ":"), `"}`)} // The end of a record.
	if known.Subject == "" {
		known.Subject = found.subjectIn(line)
	}
	if found.read != nil {
		found.read(known, line)
	}
	return known
}

// subjectIn finds the subject of an error in its line, or in one that continues it; "" if the row has none.
func (r *errorRow) subjectIn(line string) string {
	if r.subject == nil {
		return ""
	}
	line = strings.NewReplacer("ipv4:", "", "ipv6:", "").Replace(ownEnd.ReplaceAllString(line[len(placeInScript.FindString(line)):], "")) // of gRPC
	for _, m := range r.subject.FindAllStringSubmatch(line, -1) {
		subject := strings.TrimRight(strings.Join(slices.DeleteFunc(m[1:], func(s string) bool { return s == "" }), ":"), ".")
		if !sourceLine.MatchString(subject) && !strings.HasPrefix(subject, "0.0.0.0") { // It listens there.
			return subject
		}
	}
	return ""
}

// match returns the submatches of the first pattern that matches the line; nil if none does. lower is the line in lower case.
func (r *errorRow) match(code int32, line, lower string) []string {
	for _, p := range r.patterns {
		if hasHint(lower, p.hint) && (p.codes == nil || slices.Contains(p.codes, code)) {
			if m := p.line.FindStringSubmatch(line); m != nil {
				return m
			}
		}
	}
	return nil
}
