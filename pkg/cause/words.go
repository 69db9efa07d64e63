package cause

import (
	"cmp"
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// Text returns a sentence without a full stop: "Container main exited with code 137 (OOMKilled)".
func (f Failure) Text() string {
	text := f.what()
	if f.Restarted.Container != "" {
		text += fmt.Sprintf("; before that, container %s %s and was restarted", f.Restarted.Container, ExitText(f.Restarted.ExitCode, f.Restarted.Reason))
	}
	return text
}

func (f Failure) what() string {
	switch {
	case f.Container != "":
		return f.exitText()
	case f.Condition != "":
		return "Pod " + f.conditionText()
	case f.DeletedRunning:
		return "Pod was deleted before it ended"
	case f.PodReason != "":
		return "Pod failed: " + f.PodReason
	}
	return "Pod failed, and no container shows why"
}

// disruptions describe the reasons that Kubernetes gives in the condition DisruptionTarget (KEP-3329), for a sentence
// about the pod and for a cell of a table.
var disruptions = map[string]struct{ text, short string }{
	"EvictionByEvictionAPI":  {"was evicted through the Eviction API", "evicted"},
	"PreemptionByScheduler":  {"was preempted by the scheduler", "preempted"},
	"DeletionByTaintManager": {"was deleted because of a taint on its node", "deleted for a taint"},
	"DeletionByPodGC":        {"was deleted because its node is gone", "node gone"},
	"TerminationByKubelet":   {"was terminated by the kubelet", "ended by the kubelet"},
}

// conditionText returns the end of a sentence about the pod.
func (f Failure) conditionText() string {
	known := disruptions[f.ConditionReason].text
	switch {
	case known != "":
		return known
	case f.ConditionReason != "":
		return fmt.Sprintf("has condition %s (%s)", f.Condition, f.ConditionReason)
	}
	return "has condition " + string(f.Condition)
}

func (f Failure) exitText() string {
	text := fmt.Sprintf("Container %s %s", f.Container, ExitText(f.ExitCode, f.Reason))
	if f.Deleting {
		text += " while its pod was being deleted"
	}
	if f.Condition != "" {
		text += ", and the pod " + f.conditionText()
	}
	return text
}

// Code returns the CodeText of the exit.
func (e Exit) Code() string { return CodeText(e.ExitCode, e.Reason) }

// Short returns the Text for a cell of a table, without the name of the container: "exit 137 OOMKilled".
func (f Failure) Short() string {
	text := f.what()
	switch {
	case f.Container != "":
		text = f.shortExit()
	case f.Condition != "":
		text = cmp.Or(disruptions[f.ConditionReason].short, "condition "+string(f.Condition))
	}
	if f.Restarted.Container != "" {
		text += ", " + f.Restarted.short() + " before"
	}
	return text
}

func (f Failure) shortExit() string {
	text := f.short()
	if known := disruptions[f.ConditionReason].short; known != "" && (f.ExitCode == 137 || f.ExitCode == 143) {
		return known // The disruption stopped the container.
	}
	if f.Deleting {
		text += ", deleted"
	}
	if f.Condition != "" {
		text += ", " + cmp.Or(disruptions[f.ConditionReason].short, string(f.Condition))
	}
	return text
}

// short formats the exit code and reason for a cell of a table, such as "exit 137 OOMKilled".
func (e Exit) short() string {
	if e.Reason == "" {
		return fmt.Sprintf("exit %d", e.ExitCode)
	}
	return fmt.Sprintf("exit %d %s", e.ExitCode, e.Reason)
}

// Text returns the failure and the rule that matched.
func (c Cause) Text() string {
	switch {
	case c.Judged && c.Rule != failurepolicy.NoRule && c.RuleName != "":
		return fmt.Sprintf(`%s; rule %d "%s" of the podFailurePolicy matched: %s`, c.Failure.Text(), c.Rule, c.RuleName, c.Action)
	case c.Judged && c.Rule != failurepolicy.NoRule:
		return fmt.Sprintf("%s; rule %d of the podFailurePolicy matched: %s", c.Failure.Text(), c.Rule, c.Action)
	case c.Judged:
		return c.Failure.Text() + "; no rule of the podFailurePolicy matched"
	}
	return c.Failure.Text()
}

// Others begins the message of the event that counts all causes without an event of their own.
const Others = "Pods failed for too many causes to have an event each; this event counts the rest."

// Message returns the message of the event.
func (r Record) Message() string {
	text := r.Text()
	if r.Others {
		text = Others + " One of them: " + text
	}
	return text + ". First in pod " + r.Pod
}
