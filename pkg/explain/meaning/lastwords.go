package meaning

import "github.com/batchjob-dev/kubectl-batchjob/pkg/wording"

// lastWords returns the end of a message that wraps errors, its most specific part.
func lastWords(message string) string {
	return wording.LastClauses(wording.Unwrapped(message), maxSaid)
}
