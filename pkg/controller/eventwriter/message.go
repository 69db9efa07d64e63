package eventwriter

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// maxMessage is the API server's limit for the length of a message.
const maxMessage = 1024

// Truncate cuts a message to the length that the API server allows.
func Truncate(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return wording.CutBytes(message, maxMessage-3) + "..."
}

// firstOf returns the first names, as many as an event lists.
func firstOf(sorted []string) []string { return sorted[:min(len(sorted), namedPods)] }

// podsText returns a message that lists pods, at most three of them if they share an event.
func podsText(verb string, names []string, count int) string {
	const shown = 3
	switch {
	case count == 1:
		return verb + " pod: " + names[0]
	case count <= shown:
		return fmt.Sprintf("%s %d pods: %s", verb, count, strings.Join(names, ", "))
	}
	return fmt.Sprintf("%s %d pods: %s and %d more", verb, count, strings.Join(names[:shown], ", "), count-shown)
}

// PodMessages returns the messages about pods, whose names are sorted: one message per pod for a few pods, or one for
// all. Each message begins with the verb.
func PodMessages(verb string, names []string) (messages []string) {
	if len(names) > namedPods {
		return []string{podsText(verb, names, len(names))}
	}
	for _, name := range names {
		messages = append(messages, podsText(verb, []string{name}, 1))
	}
	return messages
}
