// Package phrase has the building blocks of the messages of all checks: lists of words, and parts of a manifest.
package phrase

import (
	"slices"
	"strconv"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Or returns "A", "A or B", "A, B or C".
func Or(words []string) string { return wording.Enumerate(words, "or") }

// And returns "A", "A and B", "A, B and C"; of more than four words, the first three and the number of others.
func And(words []string) string {
	if len(words) > 4 {
		words = append(slices.Clone(words[:3]), strconv.Itoa(len(words)-3)+" more")
	}
	return wording.Enumerate(words, "and")
}
