package words

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// NotStartedText describes a container that its runtime could not start, as the text of a cause.
func NotStartedText(container, reason string) string {
	return fmt.Sprintf("Container %s could not be started (%s)", container, reason)
}

// errorBriefly returns a cause with a known error for a narrow column: "exit 1: unresolved host".
func errorBriefly(c *explain.Cause) string {
	text := c.Error.Brief()
	if c.ExitCode == nil || input.IsStartFailure(c.Reason) {
		return text
	}
	return fmt.Sprintf("exit %d: %s", *c.ExitCode, text)
}

// messageClause returns the meaning of a message as the end of a clause, or its last line in quotes, or "".
func messageClause(e *meaning.KnownError, message string) string {
	if e != nil {
		return ": " + e.Text()
	}
	if message = wording.Shorten(meaning.LastLine(strings.Split(message, "\n")), maxQuoted); message == "" {
		return ""
	}
	return ", " + wording.Quoted(message)
}
