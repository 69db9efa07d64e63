package words

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// decidedTexts are the beginnings of the verdict on a Job whose outcome is decided.
var decidedTexts = map[reconcile.Outcome]string{
	reconcile.OutcomeFailed: "The Job failed: ", reconcile.OutcomeFailing: "The Job is going to fail: ",
	reconcile.OutcomeComplete: "The Job is complete: ", reconcile.OutcomeSucceeding: "The Job has succeeded: ",
}

// DecidedText returns the first clause of the verdict on a Job whose outcome is decided.
func DecidedText(outcome reconcile.Outcome, why string) string { return decidedTexts[outcome] + why }

// BlockedText returns the first clause of the verdict on a Job that a problem blocks.
func BlockedText(p *explain.Problem, now time.Time) string {
	if problems[p.Kind].plain {
		return UpperFirst(ProblemWhat(p, now))
	}
	return "The Job is stalled: " + ProblemWhat(p, now)
}

// BeingDeleted is the verdict on a Job that is being deleted.
const BeingDeleted = "The Job is being deleted"

// WaitsForText returns what the terminal condition waits for: pods that run or terminate, ended pods that are not in the
// status, or else the controller.
func WaitsForText(running, terminating, ended int32, controller string) string {
	var parts []string
	if running > 0 {
		parts = append(parts, wording.Plural(running, "running pod", "running pods"))
	}
	if terminating > 0 {
		parts = append(parts, wording.Plural(terminating, "terminating pod", "terminating pods"))
	}
	if ended > 0 {
		parts = append(parts, wording.Plural(ended, "ended pod to be recorded", "ended pods to be recorded"))
	}
	if len(parts) == 0 {
		return ControllerWord(controller) + " to record it"
	}
	return wording.Enumerate(parts, "and")
}

// WaitsClause returns the verdict's clause with a WaitsForText.
func WaitsClause(waitsFor string) string { return "it waits for " + waitsFor }

// BackoffLimitMechanism returns the number of failures and of the retries that the backoffLimit allows.
func BackoffLimitMechanism(failed, limit int32) string {
	if limit == 0 && failed == 1 {
		return "backoffLimit 0 allows no retries"
	}
	return BackoffLimitText(failed, limit)
}

// BackoffLimitText explains that the Job failed by its backoffLimit. The limit may have been lower than it is now.
func BackoffLimitText(failed, limit int32) string {
	switch {
	case failed <= limit:
		return fmt.Sprintf("its failures exceeded backoffLimit, which is %d now", limit)
	case limit == 0:
		return wording.Plural(failed, "pod failed", "pods failed") + ", and backoffLimit 0 allows no retries"
	}
	return fmt.Sprintf("%s, and backoffLimit %d allows %s", wording.Plural(failed, "pod failed", "pods failed"), limit, wording.Plural(limit, "retry", "retries"))
}

// Restarts are the restarts that used up the backoffLimit: at least Count, exactly if Exact. Container and Pod are set if
// only one container was restarted.
type Restarts struct {
	Count          int32
	Exact          bool
	Container, Pod string
}

// RestartsText explains that the Job failed by restarts.
func RestartsText(r *Restarts, limit int32) string {
	who, often := "containers of its pods were", wording.Plural(r.Count, "time", "times")
	if r.Container != "" {
		who = fmt.Sprintf("container %s of pod %s was", r.Container, r.Pod)
	}
	if !r.Exact {
		often = "at least " + often
	}
	if limit == 0 {
		return fmt.Sprintf("%s restarted %s, and backoffLimit 0 allows no retries", who, often)
	}
	return fmt.Sprintf("%s restarted %s, which uses up backoffLimit %d", who, often, limit)
}

// LastExitText describes the exit of a container before its last restart. message is its termination message; known is the
// error that the message or the log reports, or nil.
func LastExitText(e *cause.Exit, message string, known *meaning.KnownError) string {
	return fmt.Sprintf("container %s last %s%s", e.Container, exited(e.ExitCode, e.Reason), said(known, message))
}

// DeadlineText explains that the Job failed by its activeDeadlineSeconds, which may be unset now.
func DeadlineText(deadline *int64) string {
	value := "no longer set"
	if deadline != nil {
		value = wording.Seconds(*deadline)
	}
	return fmt.Sprintf("it ran longer than its activeDeadlineSeconds (%s)", value)
}

// MaxFailedIndexesText explains that the Job failed by its maxFailedIndexes.
func MaxFailedIndexesText(failed int32, list string, limit int32) string {
	return fmt.Sprintf("%s (%s), and maxFailedIndexes allows %d", wording.Plural(failed, "index failed", "indexes failed"), crop(list), limit)
}

// FailedIndexesText explains that the Job failed after all its indexes ended.
func FailedIndexesText(failed int32, list string, completions int32) string {
	return fmt.Sprintf("%s of its %s failed (%s)", wording.Thousands(failed), wording.Plural(completions, "index", "indexes"), crop(list))
}

// OtherReasonText returns a reason of the Job's failure that this project does not know.
func OtherReasonText(reason, message string) string {
	if message != "" {
		return reason + ", " + wording.Quoted(message)
	}
	return "reason " + reason
}

// RuleText explains that the Job failed by a rule of its podFailurePolicy. which is -1 and name is "" if unknown; matched
// is a clause on the pod, or ""; message is the condition's message.
func RuleText(which int32, name, matched, message string) string {
	rule := "a rule of its podFailurePolicy"
	switch {
	case which >= 0:
		rule = RuleLabel(which, name) + " of its podFailurePolicy"
	case name != "":
		rule = fmt.Sprintf("rule %q of its podFailurePolicy", name)
	}
	switch {
	case matched != "":
		return rule + " matched " + matched
	case message != "":
		return rule + " matched, " + wording.Quoted(message)
	}
	return rule + " matched"
}

// MatchedByCondition describes the pod with the condition that a rule matched; index is -1 if there is none or it is
// unknown. c is the cause of the pod's failure, or nil.
func MatchedByCondition(pod string, index int32, condition string, c *explain.Cause) string {
	if c == nil || c.Ending == nil {
		return podLabel(pod, index) + ": it has condition " + condition
	}
	return fmt.Sprintf("%s (condition %s): %s%s", podLabel(pod, index), condition, endingOfIt(c), endingSays(c))
}

// MatchedByExit describes the pod with the exit code that a rule matched. message is a termination message; known is the
// error that the message or the log reports, or nil.
func MatchedByExit(pod string, index int32, e *cause.Exit, message string, known *meaning.KnownError) string {
	return fmt.Sprintf("%s: its container %s %s%s", podLabel(pod, index), e.Container, exited(e.ExitCode, e.Reason), said(known, message))
}

func podLabel(pod string, index int32) string {
	if index < 0 {
		return "pod " + pod
	}
	return fmt.Sprintf("pod %s (index %d)", pod, index)
}

// MostlyText returns a clause on the most frequent cause. causes is the number of known causes, failures the number of
// their failures; partly is whether other failures have an unknown cause.
func MostlyText(c *explain.Cause, causes int, failures int32, partly bool) string {
	text := LowerFirst(c.Text)
	if c.Ending != nil {
		text = endingClause(text) + endingSays(c)
	} else {
		text += limitClause(c.MemoryLimit) + said(c.Error, c.Message)
	}
	if causes == 1 {
		return text
	}
	of := wording.Of(c.Count, failures)
	if partly {
		of = fmt.Sprintf("%s of the %s with a known cause", wording.Thousands(c.Count), wording.Thousands(failures))
	}
	if 2*c.Count > failures {
		return fmt.Sprintf("mostly (%s) %s", of, text)
	}
	return of + ": " + text
}

// ProgressText returns how many indexes, or pods of a NonIndexed Job, have succeeded; completions is nil if the Job has none.
func ProgressText(succeeded int32, indexed bool, completions *int32) string {
	switch {
	case indexed:
		return fmt.Sprintf("%s of %s succeeded", wording.Thousands(succeeded), wording.Plural(ptr.Deref(completions, 0), "index", "indexes"))
	case completions != nil:
		return fmt.Sprintf("%s of %s succeeded", wording.Thousands(succeeded), wording.Plural(*completions, "pod", "pods"))
	}
	return wording.Plural(succeeded, "pod succeeded", "pods succeeded")
}

// CompleteText explains why the Job is complete. rule is the successPolicy rule that is met, nil if the whole Job
// succeeded; seconds is the Job's duration, nil if unknown; noneRuns is whether the Job had to wait for other pods to end.
func CompleteText(progress string, rule *explain.SuccessRule, seconds *int64, noneRuns bool) string {
	took := ""
	if seconds != nil {
		took = " in " + wording.Seconds(*seconds)
	}
	if rule != nil {
		return fmt.Sprintf("rule %d of its successPolicy is met, %s succeeded%s", rule.Index, rule.Text, took)
	}
	if noneRuns {
		took += ", and none is still running"
	}
	return progress + took
}

// BackoffText returns the verdict on a Job in back-off.
func BackoffText(left time.Duration, progress, failed string) string {
	return fmt.Sprintf("The Job is in back-off for another %s: %s%s", wording.Age(left), progress, failed)
}

// RunningText returns the verdict on a Job that is running.
func RunningText(progress string, active int32, failed string) string {
	return fmt.Sprintf("The Job is running: %s, %s active%s", progress, wording.Plural(active, "pod is", "pods are"), failed)
}

// FailedText returns the end of such a verdict: the number of failures, and the number that the status counts if it differs.
func FailedText(failures, counted int32) string {
	switch failures {
	case 0:
		return ""
	case counted:
		return ", " + wording.Count(failures, "failed")
	}
	return fmt.Sprintf(", %s failed (%s)", wording.Thousands(failures), InStatus(counted))
}

// InStatus returns how many failures the status counts: the others are ignored, or not recorded yet.
func InStatus(counted int32) string { return wording.Thousands(counted) + " in the status" }

// WillFailText returns a clause on a Job that can no longer succeed.
func WillFailText(failed int32) string {
	return fmt.Sprintf("it will eventually fail, because %s failed", wording.Plural(failed, "index has", "indexes have"))
}

// IndexBackoffText returns a clause on indexes in back-off. left is the time until the first retry, which is certain or possible.
func IndexBackoffText(indexes int32, left time.Duration, certain bool) string {
	retried := "may be retried"
	if certain {
		retried = "is retried"
	}
	return fmt.Sprintf("%s in back-off, the first %s in %s", wording.Plural(indexes, "index is", "indexes are"), retried, wording.Age(left))
}

// ButText returns a clause on a problem of a Job that is running nevertheless.
func ButText(p *explain.Problem) string { return "but " + p.Text }
