package words

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// errorBriefly returns a cause with a known error for a narrow column: "exit 1: unresolved host".
func errorBriefly(c *explain.Cause) string {
	text := c.Error.Brief()
	if c.ExitCode == nil || cause.NeverRan(c.Reason) {
		return text
	}
	return fmt.Sprintf("exit %d: %s", *c.ExitCode, text)
}

// errorClause returns the meaning of a message as the end of a clause, or "".
func errorClause(e *meaning.KnownError) string {
	if e == nil {
		return ""
	}
	return ": " + e.Text()
}
