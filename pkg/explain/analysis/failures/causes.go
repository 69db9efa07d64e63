package failures

import (
	"cmp"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// EventPodFailed is the reason of the event that our controller writes for each cause; its count includes deleted pods.
const EventPodFailed = "PodFailed"

// IsAboutFailures reports whether our controller wrote the event about failed pods.
func IsAboutFailures(e *input.Event) bool { return e.Reason == EventPodFailed && e.Pod == "" }

// CauseOf returns a cause without its pods; disruption is the reason of the pod's condition DisruptionTarget, "" if it is
// unknown.
func CauseOf(of *cause.Cause, disruption string) explain.Cause {
	failure := of.Failure
	c := explain.Cause{
		Failure: &failure, Text: failure.Text(), Ended: explain.Ended{Container: failure.Container, Reason: failure.Reason, Condition: string(failure.Condition)},
		Ruling: explain.Ruling{Action: string(of.Action)},
	}
	if c.Container != "" && c.Condition == "" {
		c.Meaning = cause.Meaning(failure.ExitCode, failure.Reason)
	} else {
		podReason := cmp.Or(disruption, failure.ConditionReason, failure.PodReason)
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

// EndWith sets the end of the pods from outside their containers. It clears the usual meaning of their exit codes, which
// does not apply then.
func EndWith(c *explain.Cause, end meaning.Ending, message string) {
	c.Ending, c.Meaning, c.Message = &end, "", message
	c.Text = words.EndingText(c)
}
