package words

import (
	"cmp"
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// States of a Job that may still succeed or fail; they follow its name.
const (
	StateRunning     = "is running"
	StateBackoff     = "is in back-off"
	StateStalled     = "is stalled"
	StateSuspended   = "is suspended"
	StateDeleting    = "is being deleted"
	StateInterrupted = "is an interrupted retry"
)

// OutcomeState returns the state of a Job whose outcome is decided.
func OutcomeState(outcome reconcile.Outcome) string {
	switch outcome {
	case reconcile.OutcomeFailed:
		return "failed"
	case reconcile.OutcomeFailing:
		return "is failing"
	case reconcile.OutcomeComplete:
		return "completed"
	}
	return "has succeeded"
}

// BlockedState returns the state of a Job that a problem blocks.
func BlockedState(kind explain.ProblemKind) string { return cmp.Or(problems[kind].state, StateStalled) }

// OpenSummary returns the progress of a Job whose outcome is open; progress may be "".
func OpenSummary(progress string, active, failures, counted int32) string {
	running := "no pod is active"
	if active > 0 {
		running = wording.Plural(active, "pod is", "pods are") + " active"
	}
	return wording.Join(", ", progress, running) + FailedText(failures, counted)
}

// FailedIndexesSummary returns how many indexes failed and succeeded.
func FailedIndexesSummary(failed, completions, succeeded int32) string {
	text := fmt.Sprintf("%s of %s failed", wording.Thousands(failed), wording.Plural(completions, "index", "indexes"))
	if succeeded > 0 {
		text += ", " + wording.Count(succeeded, "succeeded")
	}
	return text
}

// MaxFailedIndexesMechanism returns the limit that failed indexes exceeded.
func MaxFailedIndexesMechanism(failed, limit int32) string {
	return fmt.Sprintf("%s, and maxFailedIndexes allows %s", wording.Plural(failed, "index failed", "indexes failed"), wording.Thousands(limit))
}

// PerIndexMechanism returns how many attempts an index may have.
func PerIndexMechanism(attempts, limitPerIndex int32) string {
	if limitPerIndex == 0 {
		return "backoffLimitPerIndex 0 allows an index no retries"
	}
	return fmt.Sprintf("an index fails after %s (backoffLimitPerIndex %d)", wording.Plural(attempts, "attempt", "attempts"), limitPerIndex)
}

// FailIndexMechanism names the rule that fails an index without a retry.
func FailIndexMechanism(rule int32, name string) string {
	return fmt.Sprintf("%s of its podFailurePolicy fails an index at once", RuleLabel(rule, name))
}

// CauseSentence returns the cause with the message of the program, or of the component that ended the pod, or with its
// meaning if it is a known error; else with the memory limit that was reached, or with the meaning of its exit code.
func CauseSentence(c *explain.Cause) string {
	switch {
	case c.Ending != nil:
		return c.Text + killedWith(c) + endingSays(c)
	case c.Error != nil:
		return wording.Join(": ", c.Text+limitClause(c.MemoryLimit), c.Error.Text())
	case c.Message != "":
		return wording.Join(": ", c.Text+limitClause(c.MemoryLimit), wording.Shorten(wording.LastLine(c.Message), maxUnquoted))
	case c.MemoryLimit != nil:
		return c.Text + ", " + LimitText(c.MemoryLimit)
	}
	if c.ExitCode == nil {
		return wording.Join(": ", c.Text, c.Meaning)
	}
	return wording.Join(": ", c.Text, cause.Meaning(*c.ExitCode, c.Reason))
}

// UnknownText describes failed pods with an unknown cause, because pods could not be read or no longer exist; others is
// whether other failures have a known cause.
func UnknownText(failures int32, unread, others bool) string {
	other := ""
	if others {
		other = "other "
	}
	switch {
	case unread:
		return wording.Plural(failures, other+"pod", other+"pods") + " failed for an unknown cause: pods could not be read"
	case failures == 1:
		return "1 " + other + "failed pod is gone, and nothing recorded why it failed"
	}
	return wording.Count(failures, other+"failed pods") + " are gone, and nothing recorded why they failed"
}

// StoppedText describes pods that the Job's controller stopped because of the Job; others is whether other pods failed.
func StoppedText(pods int32, reason explain.StopReason, outcome reconcile.Outcome, others bool) string {
	other := ""
	if others {
		other = "other "
	}
	text := wording.Plural(pods, other+"pod was", other+"pods were") + " stopped "
	switch {
	case reason == explain.StoppedSuspended:
		return text + "when the Job was suspended"
	case reason == explain.StoppedExcess:
		return text + "because more ran than the Job wants"
	case reason == explain.StoppedAtDeadline:
		return text + "when activeDeadlineSeconds was over"
	case outcome.Succeeds():
		return text + "when the Job succeeded"
	}
	return text + "when the Job failed"
}

// PodPlace returns a pod with its index, its node, and the number of its attempt out of attempts; 0 is no number or no limit.
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
		text += fmt.Sprintf(", attempt %s", wording.Of(attempt, attempts))
	case attempt > 0:
		text += fmt.Sprintf(", attempt %d", attempt)
	}
	return text
}
