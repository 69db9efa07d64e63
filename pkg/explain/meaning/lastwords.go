package meaning

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// maxLastWords is the maximum length of the result of lastWords, in bytes.
const maxLastWords = 100

// wrapping matches the prefixes that the kubelet and the runtime put before an error: the failed call, its volume or plugin.
var wrapping = lazyregexp.New(`^.* desc = |^\S+ failed for volume "[^"]+" : |^.*plugin type="[^"]+"(?: name="[^"]+")? failed \(\w+\): |^.* Output: `)

// lastWords returns the end of a message that wraps errors, the most specific part: as many of the parts separated by colons
// as fit, and at least one.
func lastWords(message string) string {
	message = strings.TrimRight(strings.Join(strings.Fields(message), " "), " .")
	for before := wrapping.FindString(message); before != "" && before != message; before = wrapping.FindString(message) {
		message = message[len(before):]
	}
	parts := strings.Split(message, ": ")
	out := parts[len(parts)-1]
	for i := len(parts) - 2; i >= 0 && len(out)+len(parts[i])+2 <= maxLastWords; i-- {
		out = parts[i] + ": " + out
	}
	return out
}
