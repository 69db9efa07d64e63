package words

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// stateText returns the state of the Job, which follows its name.
func stateText(a *Answer) string {
	switch b := a.Blocker; {
	case a.Outcome != reconcile.OutcomeOpen:
		return outcomeStates[a.Outcome]
	case a.RetryOf != "":
		return "is an interrupted retry"
	case b != nil:
		return cmp.Or(problems[b.Kind].state, "is stalled")
	case a.Deleting:
		return stateDeleting
	case a.inBackoff():
		return "is in back-off"
	}
	return "is running"
}

// States of a Job that problems block.
const (
	stateSuspended = "is suspended"
	stateDeleting  = "is being deleted"
)

var outcomeStates = map[reconcile.Outcome]string{
	reconcile.OutcomeFailed: "failed", reconcile.OutcomeFailing: "is failing",
	reconcile.OutcomeComplete: "completed", reconcile.OutcomeSucceeding: "has succeeded",
}

// summary returns the progress of the Job, with the failures of an open one. For a Job with one completion, the state is sufficient otherwise.
func summary(a *Answer) string {
	one, fails := ptr.Deref(a.Completions, 0) == 1, a.Outcome.Fails()
	switch {
	case a.Blocker != nil && a.Completed == 0, one && fails, one && !a.HelmGaveUp && a.inOutput() != nil:
		return ""
	case a.Outcome == reconcile.OutcomeOpen:
		return openSummary(a, one)
	case a.Failed > 0:
		return fmt.Sprintf("%s of %s failed", wording.Thousands(a.Failed), wording.Plural(ptr.Deref(a.Progress.Of, 0), "index", "indexes"))
	case fails && a.Completed == 0:
		return ""
	}
	return progressText(&a.Progress)
}

// openSummary is summary for an open Job; one is whether it has one completion.
func openSummary(a *Answer, one bool) string {
	failed, numbers := "", progressText(&a.Progress)
	if a.Failures > 0 && a.Mostly != nil {
		failed = wording.Plural(a.Failures, "pod failed", "pods failed") + wording.InBrackets(retriesText(a.BackoffLimit))
	}
	switch {
	case one && a.inBackoff():
		numbers = ""
	case one && a.Active > 0:
		numbers = wording.Plural(a.Active, "pod is", "pods are") + " active"
	case one:
		numbers = "no pod is active"
	}
	if one && a.HelmGaveUp && !a.inBackoff() && a.Active > 0 {
		numbers += "; " + helmWaits
	}
	if one {
		return wording.Join(", ", failed, numbers)
	}
	return wording.Join(", ", numbers, failed)
}

// CauseSentence returns the cause with what says more about it, and how a retry failed.
func CauseSentence(c *explain.Cause) string {
	return joined(append(causeClauses(c), moreClauses(c)...))
}

// moreClauses says how a retry failed if an earlier attempt was the reason, and which containers of the pod had succeeded before.
func moreClauses(c *explain.Cause) (all []string) {
	if c.Retry != "" {
		all = inQuotes(": ", c.Retry).clauses("the latest retry failed differently", room(""))
	}
	if len(c.Done) > 0 {
		all = append(all, ContainersText(c.Done)+" had succeeded before")
	}
	return all
}

// causeClauses return the cause with the message of the program, or of the component that ended the pod, or with its
// meaning if it is a known error; else with the memory limit that was reached, or with the meaning of its exit code.
func causeClauses(c *explain.Cause) []string {
	quote := causeLine(c, true)
	switch {
	case c.Ending != nil:
		return endingQuote(c).clauses(c.Text+killedWith(c), room(""))
	case c.Error != nil:
		return meant(c.Error, "").at(c.Place).clauses(c.Text+limitsClause(c.Container, c.MemoryLimit, c.Also), room(""))
	case quote.message != "" && len(c.After) == 0:
		return quote.clauses(c.Text+limitsClause(c.Container, c.MemoryLimit, c.Also), room(""))
	case c.MemoryLimit != nil:
		return []string{c.Text + limitsClause(c.Container, c.MemoryLimit, c.Also)}
	case c.ExitCode == nil || len(c.After) > 0:
		return []string{wording.Join(": ", c.Text, c.Meaning)}
	}
	return []string{wording.Join(": ", c.Text, cause.Meaning(*c.ExitCode, c.Reason))}
}

// causeLine returns the line of the message or of the log that best explains the end of a container.
func causeLine(c *explain.Cause, isOutput bool) quotation {
	if c.Message != "" {
		return logLine(meaning.LastLine(strings.Split(c.Message, "\n")), meaning.SignError, isOutput)
	}
	return logLine(c.LastLine, c.LineSign, isOutput).at(c.Place)
}

// UnreadClause says how many logs of pods with the cause were not read; "" if the quoted one is the only one, or if none was read.
func UnreadClause(c *explain.Cause) string {
	unread := c.Count - c.Read
	if c.Read == 0 || unread <= 0 {
		return ""
	}
	return wording.Form(unread, "the log of the other pod was not read", "the logs of the other "+wording.Count(unread, "pods")+" were not read")
}

// UnknownText describes failed pods with an unknown cause, because pods could not be read or no longer exist; others is
// whether other failures have a known cause.
func UnknownText(failures int32, unread, others bool) string {
	other := map[bool]string{true: "other "}[others]
	switch {
	case unread:
		return wording.Plural(failures, other+"pod", other+"pods") + " failed for an unknown cause: pods could not be read"
	case failures == 1:
		return "1 " + other + "failed pod is gone, and nothing recorded why it failed"
	}
	return wording.Count(failures, other+"failed pods") + " are gone, and nothing recorded why they failed"
}

// PodsGone describes Jobs whose failed pods no longer exist.
const PodsGone = "their failed pods are gone, and nothing recorded why they failed"

// StoppedText describes pods that the Job's controller stopped because of the Job; others is whether other pods failed.
func StoppedText(pods int32, reason explain.StopReason, outcome reconcile.Outcome, others bool) string {
	other := map[bool]string{true: "other "}[others]
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
	case outcome == reconcile.OutcomeFailing:
		return text + "because the Job is failing"
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

// Times returns how often a failure happened, after the verb: "" for once, " twice", " 3 times".
func Times(n int32) string {
	switch {
	case n <= 1:
		return ""
	case n == 2:
		return " twice"
	}
	return " " + wording.Thousands(n) + " times"
}
