package meaning

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// maxLastWords is the maximum length of several parts that LastWords joins, in bytes.
const maxLastWords = 100

// wrapping matches the prefixes that the kubelet and the runtime put before an error: the failed call, its volume or plugin.
var wrapping = lazyregexp.New(`^.* desc = |^\S+ failed for volume "[^"]+" : |^.*plugin type="[^"]+"(?: name="[^"]+")? failed \(\w+\): |^.* Output: |` +
	`^failed to (?:create (?:containerd task|containerd container|shim task)|generate (?:container "[^"]*" )?spec): |` +
	`^(?:Pod was rejected|prepare dynamic resources): |^(?:Allocate|Update plugin resources) failed due to |^Failed to prepare dynamic resources: |` +
	`^(?:OCI runtime create failed|runc create failed|container create failed|unable to start container process|error during container init): `)

// trailing matches what follows an error: its code, and the programs' references to their manuals.
var trailing = lazyregexp.New(`(?:: unknown|, which is unexpected| (?:Refer to the mount\.cifs|Please refer to|See https?:).*)$`)

// LastWords returns the end of a message that wraps errors, the most specific part: as many of the parts separated by colons
// as fit, and at least one. A colon in quotes or brackets does not separate parts.
func LastWords(message string) string {
	parts := partsOf(unwrapped(message))
	out := parts[len(parts)-1]
	for i := len(parts) - 2; i >= 0 && len(out)+len(parts[i])+2 <= maxLastWords; i-- {
		out = parts[i] + ": " + out
	}
	return out
}

// Gist returns a message in at most the given number of characters, as far as it wraps errors only their most specific part:
// the end of a message with one sentence, and the beginning of one with several.
func Gist(message string, most int) string {
	first := wording.Shorten(message, most)
	if !strings.HasSuffix(first, "…") {
		return first
	}
	if message = unwrapped(message); len([]rune(message)) > most {
		message = LastWords(message)
	}
	return wording.Shorten(message, most)
}

// unwrapped returns a message on one line, without the calls that failed before its error, and what follows it.
func unwrapped(message string) string {
	message = strings.TrimRight(strings.Join(strings.Fields(message), " "), " .")
	for before := wrapping.FindString(message); before != "" && before != message; before = wrapping.FindString(message) {
		message = message[len(before):]
	}
	if rest := strings.TrimSuffix(message, trailing.FindString(message)); rest != "" {
		return rest
	}
	return message
}

// partsOf splits a message at its colons, except in quotes and brackets if all of them are closed.
func partsOf(message string) (parts []string) {
	begin, depth, quoted := 0, 0, false
	for i, r := range message {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '(' || r == '[':
			depth++
		case (r == ')' || r == ']') && depth > 0:
			depth--
		case r == ':' && depth == 0 && i >= begin && strings.HasPrefix(message[i:], ": "):
			parts, begin = append(parts, message[begin:i]), i+2
		}
	}
	if quoted || depth > 0 {
		return strings.Split(message, ": ")
	}
	return append(parts, message[begin:])
}
