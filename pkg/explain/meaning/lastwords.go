package meaning

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// wrapping matches the prefixes that the kubelet and the runtime put before an error: the failed call, its volume or plugin.
var wrapping = lazyregexp.New(`^.* desc = |^\S+ failed for volume "[^"]+" : |^.*plugin type="[^"]+"(?: name="[^"]+")? failed \(\w+\): |^.* Output: `)

// lastWords returns the end of a message that wraps errors, without the prefixes that say nothing about them.
func lastWords(message string) string {
	message = strings.TrimRight(strings.Join(strings.Fields(message), " "), " .")
	for before := wrapping.FindString(message); before != "" && before != message; before = wrapping.FindString(message) {
		message = message[len(before):]
	}
	return wording.LastClauses(message, maxSaid)
}
