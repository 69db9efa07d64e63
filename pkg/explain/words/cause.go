package words

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// OtherCauses is the text for the causes that an event counts without naming them.
const OtherCauses = "Other causes, too many for an event each"

// PodMeaning returns the meaning of a disruption's reason, or of the reason why a whole pod failed, "" if it is unknown.
func PodMeaning(reason string) string {
	return podMeanings[reason]
}

var podMeanings = map[string]string{
	"EvictionByEvictionAPI":  "the pod was evicted, as by kubectl drain",
	"PreemptionByScheduler":  "the scheduler preempted it for a pod with a higher priority",
	"DeletionByTaintManager": "its node has a taint that the pod does not tolerate",
	"DeletionByPodGC":        "its node is gone",
	"TerminationByKubelet":   "its node ran low on resources or shut down",
	"Evicted":                "its node ran low on resources",
	"NodeLost":               "its node is gone or shut down", "NodeShutdown": "its node is gone or shut down",
	"Shutdown": "its node is gone or shut down", "Terminated": "its node is gone or shut down",
	"DeadlineExceeded": "the pod ran longer than its own activeDeadlineSeconds",
}

// limitClause returns the memory limit as the end of a clause, "" if there is none.
func limitClause(l *input.MemoryLimit) string {
	if l == nil {
		return ""
	}
	return ", " + LimitText(l)
}

// limitsClause returns the memory limits of a container, and of the others that failed with it, as the end of a clause, as far as
// they ran out of memory.
func limitsClause(container string, limit *input.MemoryLimit, also []explain.AlsoFailed) string {
	if limit == nil || limit.Value == "" {
		return limitClause(limit)
	}
	limits, same := []string{limit.Value + " (" + container + ")"}, true
	for i := range also {
		if other := &also[i]; other.MemoryLimit.Value != "" {
			limits = append(limits, other.MemoryLimit.Value+" ("+other.Container+")")
			same = same && other.MemoryLimit == *limit
		}
	}
	switch {
	case len(limits) == 1 && len(also) > 0:
		return ", memory limit " + limits[0]
	case len(limits) == 1:
		return limitClause(limit)
	case same:
		return limitClause(limit) + " each"
	}
	return ", memory limits " + wording.Enumerate(limits, "and")
}

// LimitText returns a memory limit, and its source unless it is the Job's template.
func LimitText(l *input.MemoryLimit) string {
	switch text := "memory limit " + l.Value; l.From {
	case input.LimitOfLimitRange:
		return text + " from a LimitRange"
	case input.LimitOfAllOfPod:
		return text + " of the whole pod"
	case input.LimitOfNode:
		return "without a memory limit: its node ran out of memory"
	case input.LimitOfPod:
		return text + " of the pod, not of the Job's template"
	default:
		return text
	}
}

// limitOrigin returns a sentence about a limit that does not come from the Job's template.
func limitOrigin(l *input.MemoryLimit) string {
	template := "has none"
	if l.Template != "" {
		template = "has " + l.Template
	}
	if l.From == input.LimitOfLimitRange {
		return "the limit of " + l.Value + " was set by a LimitRange of the namespace, as the template " + template
	}
	return "the limit of " + l.Value + " was set in the pod, while the template " + template
}

// AlsoText returns the other containers that failed, as a continuation of a cause's text.
func AlsoText(others []explain.AlsoFailed) string {
	texts := make([]string, len(others))
	for i, e := range others {
		texts[i] = fmt.Sprintf("container %s with %s", e.Container, e.Code())
	}
	return ", and " + wording.Enumerate(texts, "and")
}

// AfterText returns the containers that had succeeded before the end, as a continuation of a cause's text; "" if there are none.
func AfterText(done []string) string {
	if len(done) == 0 {
		return ""
	}
	return " after " + ContainersText(done) + " had succeeded"
}

// OnlyItsExit is the meaning of the exit of a container that was stopped after the work of its pod was done.
const OnlyItsExit = "the work was done, and only this exit code made the pod fail"

// HiddenText returns the text of a cause that a rule hides by matching another container.
func HiddenText(hidden *explain.Hidden, c *cause.Cause) string {
	return fmt.Sprintf("Container %s %s, but %s %s because of %s, which %s", hidden.Container, cause.ExitText(hidden.ExitCode, hidden.Reason),
		RuleLabel(c.Rule, c.RuleName), hidingTexts[c.Action], hiderText(hidden, c.Container), cause.ExitText(c.ExitCode, c.Reason))
}

// hidingTexts are the effects of a rule on the failure that it hides, by action.
var hidingTexts = map[batchv1.PodFailurePolicyAction]string{
	batchv1.PodFailurePolicyActionIgnore:    "ignores it",
	batchv1.PodFailurePolicyActionFailJob:   "fails the Job",
	batchv1.PodFailurePolicyActionFailIndex: "fails the index",
}

// hiderText returns the container that a rule matched instead of the hidden one.
func hiderText(hidden *explain.Hidden, container string) string {
	if hidden.Sidecar {
		return "sidecar " + container
	}
	return "container " + container
}

// NameContainer returns advice on a rule that hides a failure because it matched another container.
func NameContainer(hidden *explain.Hidden, rule int32, name, other string) string {
	return fmt.Sprintf("{recreate} with containerName: %s in onExitCodes of %s, or with a rule on the pod condition DisruptionTarget instead: without a name, the rule matches the end of %s, too",
		hidden.Container, RuleLabel(rule, name), hiderText(hidden, other))
}
