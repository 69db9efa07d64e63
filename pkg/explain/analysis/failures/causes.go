package failures

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// EventPodFailed is the reason of the event that our controller writes for each cause; its count outlives the pods.
const EventPodFailed = "PodFailed"

// IsAboutFailures reports whether our controller wrote the event about failed pods.
func IsAboutFailures(e *explain.Event) bool { return e.Reason == EventPodFailed && e.Pod == "" }

// causeOf is what is known of a cause itself; disruption is the reason of the pod's condition DisruptionTarget, "" if
// that is not known.
func causeOf(of *cause.Cause, disruption string) explain.Cause {
	failure := of.Failure
	c := explain.Cause{
		Failure: &failure, Text: failure.Text(), Container: failure.Container, Reason: failure.Reason,
		Condition: string(failure.Condition), Action: string(of.Action),
	}
	if c.Container != "" && c.Condition == "" {
		c.Meaning = cause.Meaning(failure.ExitCode, failure.Reason)
	} else {
		podReason := cmp.Or(disruption, failure.PodReason)
		c.Reason, c.Meaning = cmp.Or(failure.Reason, podReason), words.PodMeaning(podReason)
	}
	if c.Container != "" {
		c.ExitCode, c.Signal = ptr.To(failure.ExitCode), cause.Signal(failure.ExitCode)
	}
	if of.Rule != failurepolicy.NoRule {
		c.Rule, c.RuleName = ptr.To(of.Rule), of.RuleName
	}
	return c
}

// endWith says what ended the pods from outside their containers. What their exit codes usually mean is no cause then.
func endWith(c *explain.Cause, end explain.Ending, message string) {
	c.Ending, c.Meaning, c.Message = &end, "", message
	c.Text = words.EndingText(c)
}

// meanError has the Error of the cause as its meaning. The exit code of a container that never started says nothing.
func meanError(c *explain.Cause) {
	c.Meaning = words.KnownErrorText(c.Error)
	if explain.IsStartFailure(c.Reason) {
		c.Text = words.NotStartedText(c.Container, c.Reason)
	}
}

// eventCause is what an event says: verbatim, if there is nothing else. withoutDeletions is whether the end of the Job
// needs no deletion to explain it.
func eventCause(in *facts.Facts, e *explain.Event, withoutDeletions bool) explain.Cause {
	c := explain.Cause{Text: e.Message}
	switch r := e.Failed; {
	case r != nil && r.Others:
		c.Text = words.OtherCauses
	case r != nil:
		c = causeOf(&r.Cause, "")
		c.Consequence = in.Outcome.Decided() && r.IsDeletion() && !e.First.Before(in.Outcome.Since) && withoutDeletions
		if reason := in.StopReason(e.First); reason == explain.StoppedSuspended && r.IsDeletion() {
			c.Stopped = reason
		}
		if r.Pod != "" {
			c.Pods = []string{r.Pod}
		}
	}
	c.Source, c.Count, c.First, c.Last = explain.SourceEvents, max(e.Count, 1), explain.TimeOf(e.First), explain.TimeOf(e.Last)
	return c
}

// conditionCause is what the condition's message says about the pod that a rule matched.
func conditionCause(in *facts.Facts) explain.Cause {
	of := &in.Outcome
	c := causeOf(&cause.Cause{
		Failure: of.MatchedPod.Failure(), Rule: of.Rule, RuleName: of.RuleName, Action: batchv1.PodFailurePolicyActionFailJob,
	}, "")
	c.Source, c.Count, c.Pods, c.Last = explain.SourceCondition, 1, []string{of.MatchedPod.Name}, explain.TimeOf(of.Since)
	return c
}

// stoppedCause is that of pods that were deleted as they ran: by the Job's controller if there is a reason, else by others.
func stoppedCause(reason explain.StopReason) explain.Cause {
	c := causeOf(&cause.Cause{Failure: cause.Failure{DeletedRunning: true}, Rule: failurepolicy.NoRule}, "")
	c.Stopped, c.Consequence = reason, reason == explain.StoppedAtDeadline || reason == explain.StoppedAtEnd
	return c
}

// isIgnored reports whether the failures do not count.
func isIgnored(c *explain.Cause) bool {
	return c.Action == string(batchv1.PodFailurePolicyActionIgnore)
}

// SortCauses puts the most frequent first, and what followed from the end of the Job last.
func SortCauses(causes []explain.Cause) {
	slices.SortStableFunc(causes, func(x, y explain.Cause) int {
		return cmp.Or(FalseFirst(x.Consequence, y.Consequence), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Text, y.Text))
	})
}
