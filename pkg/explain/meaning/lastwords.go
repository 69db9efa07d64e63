package meaning

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// empty matches lines of a log that do not say why a program failed: commands that a shell traces, its last exit, and frames of
// a stack trace.
var empty = lazyregexp.New(`^(?:\++ |(?:exit|exited with) (?:status|code):? \d+|command terminated|(?:Killed|Terminated|Done|done)\.?$|at \S+\(|\.\.\. \d+ more|[^\pL\pN]*$)`)

// LastLine returns the last of the lines of a log that may say why a program failed, "" if there is none.
func LastLine(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if line = logged(strings.TrimSpace(line)); !empty.MatchString(line) {
			return line
		}
	}
	return ""
}

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
