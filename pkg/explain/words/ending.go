package words

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// EndingText returns the Text of a cause with an Ending; it adds a container that exited with a code of its own.
func EndingText(c *explain.Cause) string {
	text := c.Ending.Text()
	if c.ExitCode != nil && c.Ending.Kind != meaning.EndProbe && c.Ending.Kind != meaning.EndPostStart && *c.ExitCode != 137 && *c.ExitCode != 143 {
		text += fmt.Sprintf(", and container %s %s", c.Container, cause.ExitText(*c.ExitCode, ""))
	}
	return text
}

// endingClause turns the text of an Ending into a clause.
func endingClause(text string) string {
	if strings.HasPrefix(text, "pod ") {
		return "the " + text
	}
	return text
}

// endingOfIt returns the text of an Ending, with "it" for a pod that the sentence has named already.
func endingOfIt(c *explain.Cause) string {
	text := LowerFirst(EndingText(c))
	if rest, about := strings.CutPrefix(text, "pod "); about {
		return "it " + rest
	}
	return text
}

// killedWith returns the exit code of a container that the kubelet killed, in parentheses: EndingText omits it.
func killedWith(c *explain.Cause) string {
	if c.ExitCode == nil || c.Ending.Kind != meaning.EndProbe && c.Ending.Kind != meaning.EndPostStart {
		return ""
	}
	return fmt.Sprintf(" (exit code %d)", *c.ExitCode)
}

// endingQuote returns the message of the component that ended the pods, for the end of a sentence; none if the text says as much.
func endingQuote(c *explain.Cause) quotation {
	if c.Ending.IsComplete() || c.Ending.Explains(c.Message) {
		return quotation{}
	}
	return inQuotes(": ", meaning.Readable(c.Message))
}

// KilledExitGone describes the exit code of a container that the kubelet killed in a pod that no longer exists.
const KilledExitGone = "its exit code is gone with the pod, and is 137 (SIGKILL) if it did not stop on SIGTERM"

// PodDeadlineAdvice returns advice on the activeDeadlineSeconds of pods; seconds is nil if the pod template has none.
func PodDeadlineAdvice(seconds *int64) string {
	if seconds == nil {
		return "find out what sets activeDeadlineSeconds of its pods: the pod template does not"
	}
	return fmt.Sprintf("raise activeDeadlineSeconds of the pod template, which is %d", *seconds)
}
