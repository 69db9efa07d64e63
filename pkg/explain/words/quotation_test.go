package words

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CLI-40. A message is a clause of its own if the room beside the text would cut its end.
func TestMessageKeepsItsEnd(t *testing.T) {
	t.Parallel()
	const text, room = "container main exited with code 1", 80
	value := strings.Repeat("v", 50)
	for message, want := range map[string][]string{
		"no port":                     {text + ": no port"},
		"cannot make a key: " + value: {text, "cannot make a key: " + value},
		"specField of " + value:       {text + ": specField of " + value[:31] + "…"},
		"tool: cannot start: cannot get the key of client.a": {text + ": cannot start: cannot get the key of client.a"},
		strings.Repeat("word ", 40):                          {text + ": " + strings.TrimSpace(strings.Repeat("word ", 9)) + "…"},
	} {
		assert.SlicesEqual(t, plainly(message).clauses(text, room), want, message)
	}
}

// Requirements: CLI-18
func TestLastLinesBeginWithTheKnownError(t *testing.T) {
	t.Parallel()
	lines := append([]string{"start", "dial tcp: lookup db: no such host"}, strings.Split(strings.Repeat("* or ask\n", 11), "\n")...)
	got := LastLines(strings.Join(lines, "\n"))
	assert.SlicesEqual(t, got, lines[1:11])
}
