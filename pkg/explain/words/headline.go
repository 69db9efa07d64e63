package words

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// The states of a Job whose end is open, behind its name.
const (
	StateRunning     = "is running"
	StateBackoff     = "is in back-off"
	StateStalled     = "is stalled"
	StateSuspended   = "is suspended"
	StateDeleting    = "is being deleted"
	StateInterrupted = "is an interrupted retry"
)

// FateState is the state of a Job whose end is decided.
func FateState(fate explain.Fate) string {
	switch fate {
	case explain.FateFailed:
		return "failed"
	case explain.FateFailing:
		return "is failing"
	case explain.FateComplete:
		return "completed"
	}
	return "has succeeded"
}

// BlockedState is the state of a Job that a problem blocks.
func BlockedState(kind explain.ProblemKind) string {
	switch kind {
	case explain.ProblemSuspended:
		return StateSuspended
	case explain.ProblemDeleting:
		return StateDeleting
	}
	return StateStalled
}

// OpenSummary is how far a Job is whose end is open; progress is "" if it says nothing.
func OpenSummary(progress string, active, failures, counted int32) string {
	running := "no pod is active"
	if active > 0 {
		running = Times(active, "pod is", "pods are") + " active"
	}
	return Joined(", ", progress, running) + FailedText(failures, counted)
}

// FailedIndexesSummary is how many indexes failed and succeeded.
func FailedIndexesSummary(failed, completions, succeeded int32) string {
	text := fmt.Sprintf("%s of %s failed", Number(failed), Times(completions, "index", "indexes"))
	if succeeded > 0 {
		text += ", " + Count(succeeded, "succeeded")
	}
	return text
}

// MaxFailedIndexesMechanism is the limit that failed indexes exceeded.
func MaxFailedIndexesMechanism(failed, limit int32) string {
	return fmt.Sprintf("%s, and maxFailedIndexes allows %s", Times(failed, "index failed", "indexes failed"), Number(limit))
}

// PerIndexMechanism is how many attempts an index may have.
func PerIndexMechanism(attempts, limitPerIndex int32) string {
	if limitPerIndex == 0 {
		return "backoffLimitPerIndex 0 allows an index no retries"
	}
	return fmt.Sprintf("an index fails after %s (backoffLimitPerIndex %d)", Times(attempts, "attempt", "attempts"), limitPerIndex)
}

// FailIndexMechanism is the rule that fails an index without a retry.
func FailIndexMechanism(rule int32, name string) string {
	return fmt.Sprintf("%s of its podFailurePolicy fails an index at once", RuleLabel(rule, name))
}

// CauseSentence is the cause with what the program, or the component that ended the pod, said about it, or what that means if
// it is a known error; else with the memory limit that was reached, or with the meaning of its exit code.
func CauseSentence(c *explain.Cause) string {
	switch {
	case c.Ending != nil:
		return c.Text + killedWith(c) + endingSays(c)
	case c.Error != nil:
		return Joined(": ", textWithSignal(c)+limitClause(c.MemoryLimit), KnownErrorText(c.Error))
	case c.Message != "":
		return Joined(": ", textWithSignal(c)+limitClause(c.MemoryLimit), lastLine(c.Message))
	case c.MemoryLimit != nil:
		return c.Text + ", " + LimitText(c.MemoryLimit)
	}
	if c.ExitCode == nil {
		return Joined(": ", c.Text, c.Meaning)
	}
	return Joined(": ", textWithSignal(c), cause.MeaningOnly(*c.ExitCode, c.Reason))
}

// lastLine is the last line of a message: of a stack trace, that is the error. A long one loses its middle, as the errors of
// runtimes begin with who reports them and end with the reason.
func lastLine(message string) string {
	const begin, end = 50, 110
	all := LastLines(message)
	if len(all) == 0 {
		return ""
	}
	line := []rune(strings.TrimRight(strings.TrimSpace(all[len(all)-1]), "."))
	if len(line) > begin+end+1 {
		return string(line[:begin]) + "…" + string(line[len(line)-end:])
	}
	return string(line)
}

// UnknownText is about failed pods whose cause is not known, because pods could not be read or are gone; others is set if
// the cause of others is known.
func UnknownText(failures int32, unread, others bool) string {
	other := ""
	if others {
		other = "other "
	}
	switch {
	case unread:
		return Times(failures, other+"pod", other+"pods") + " failed for an unknown cause: pods could not be read"
	case failures == 1:
		return "1 " + other + "failed pod is gone, and nothing recorded why it failed"
	}
	return Count(failures, other+"failed pods") + " are gone, and nothing recorded why they failed"
}

// StoppedText is about pods that the Job's controller stopped for a reason of the Job; others is set if other pods failed.
func StoppedText(pods int32, reason explain.StopReason, fate explain.Fate, others bool) string {
	other := ""
	if others {
		other = "other "
	}
	text := Times(pods, other+"pod was", other+"pods were") + " stopped "
	switch {
	case reason == explain.StoppedSuspended:
		return text + "when the Job was suspended"
	case reason == explain.StoppedExcess:
		return text + "because more ran than the Job wants"
	case reason == explain.StoppedAtDeadline:
		return text + "when activeDeadlineSeconds was over"
	case fate == explain.FateComplete || fate == explain.FateSucceeding:
		return text + "when the Job succeeded"
	}
	return text + "when the Job failed"
}

// PodPlace is a pod with its index and its node, and which attempt it was of how many; 0 for no limit or no number.
func PodPlace(p *explain.PodInfo, attempt, attempts int32) string {
	text := p.Name
	if p.Index != nil {
		text += fmt.Sprintf(" (index %d)", *p.Index)
	}
	if p.Node != "" {
		text += " on " + p.Node
	}
	switch {
	case attempt > 0 && attempts > 0:
		text += fmt.Sprintf(", attempt %s", Of(attempt, attempts))
	case attempt > 0:
		text += fmt.Sprintf(", attempt %d", attempt)
	}
	return text
}
