// Package cause says why a pod failed, in the same words for all pods that failed so:
// the controller's events and the explanations group failures by it.
package cause

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// Cause is comparable: two pods failed for the same cause if theirs are equal.
type Cause struct {
	// Container ended with ExitCode; "" if no container tells why the pod failed. Reason is
	// that of its runtime, if it says more than the exit code.
	Container string
	ExitCode  int32
	Reason    string
	// Condition is the pod condition that a rule matched, or DisruptionTarget.
	Condition corev1.PodConditionType
	// Deleting says that the pod was being deleted when it ended.
	Deleting bool
	// Unended is set for a pod that was deleted, or will be because its Job ends, before it
	// reported how it ended.
	Unended bool
	// PodReason is the kubelet's reason for the failure of the whole pod, such as Evicted.
	PodReason string
	// Restarted is how a container of a pod that was deleted, or that is about to be, ended
	// before its last restart; zero if none was restarted, or if it is the end that Container
	// tells of.
	Restarted Exit
	// Judged says that the podFailurePolicy was asked. Rule matched then, with Action, or
	// is failurepolicy.NoRule.
	Judged bool
	Rule   int32
	Action batchv1.PodFailurePolicyAction
}

// Exit is how a container ended.
type Exit struct {
	Container string
	ExitCode  int32
	// Reason is that of its runtime, if it says more than the exit code.
	Reason string
}

// Of is the cause of the failure of a pod. m is the verdict of the podFailurePolicy, nil
// if it was not asked.
func Of(p *reconcile.Pod, m *failurepolicy.Match) Cause {
	c := Cause{Rule: failurepolicy.NoRule}
	if m != nil {
		c.Judged, c.Rule, c.Action = true, m.Rule, m.Action
	}
	if m != nil && m.Matched() {
		if c.Condition = m.Condition; c.Condition == "" {
			c.exit(p, m.Container, m.ExitCode)
		}
		return c
	}
	failed := slices.IndexFunc(p.Terminated, func(t failurepolicy.Container) bool { return t.ExitCode != 0 })
	if slices.Contains(p.Conditions, failurepolicy.Condition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}) {
		c.Condition = corev1.DisruptionTarget
	}
	switch {
	case failed >= 0:
		c.exit(p, p.Terminated[failed].Name, p.Terminated[failed].ExitCode)
	case c.Condition != "":
	case !p.IsTerminal():
		c.Unended = true
	default:
		c.PodReason = p.FailReason
	}
	if p.Deleting || c.Unended {
		c.restarted(p)
	}
	return c
}

// restarted takes over how a container ended before its last restart. With restartPolicy
// OnFailure that may be why the pod is deleted (JOB-16), and all that tells of it then: its
// failure is recorded with the decision, before the deletion, and the pod may be gone soon.
func (c *Cause) restarted(p *reconcile.Pod) {
	if p.Restarted == nil {
		return
	}
	before := Exit{Container: p.Restarted.Name, ExitCode: p.Restarted.ExitCode, Reason: telling(p.Restarted.Reason)}
	if before != (Exit{c.Container, c.ExitCode, c.Reason}) {
		c.Restarted = before
	}
}

// telling is the reason of a runtime, if it says more than an exit code.
func telling(reason string) string {
	if reason == "Error" || reason == "Completed" {
		return ""
	}
	return reason
}

// exit takes over what is known of the end of a container. That the pod is being deleted
// is part of it: the end of such a pod is no fault of what runs in it.
func (c *Cause) exit(p *reconcile.Pod, container string, code int32) {
	c.Container, c.ExitCode, c.Deleting = container, code, p.Deleting
	for _, t := range p.Terminated {
		if t.Name == container && t.ExitCode == code && telling(t.Reason) != "" {
			c.Reason = t.Reason
		}
	}
}

// Evidence is what happened, without what the podFailurePolicy made of it.
func (c Cause) Evidence() string { return c.what() + c.restartedText() }

func (c Cause) what() string {
	switch {
	case c.Container != "":
		return c.exitText()
	case c.Condition != "":
		return "Pod has condition " + string(c.Condition)
	case c.Unended:
		return "Pod was deleted before it ended"
	case c.PodReason != "":
		return "Pod failed: " + c.PodReason
	}
	return "Pod failed, and no container tells why"
}

func (c Cause) exitText() string {
	text := fmt.Sprintf("Container %s exited with code %d", c.Container, c.ExitCode)
	if c.Reason != "" {
		text += " (" + c.Reason + ")"
	}
	if c.Deleting {
		text += " while its pod was being deleted"
	}
	if c.Condition != "" {
		text += ", and the pod has condition " + string(c.Condition)
	}
	return text
}

// restartedText is what Evidence appends if a container had been restarted.
func (c Cause) restartedText() string {
	r := c.Restarted
	if r.Container == "" {
		return ""
	}
	reason := ""
	if r.Reason != "" {
		reason = " (" + r.Reason + ")"
	}
	return fmt.Sprintf("; before that, container %s exited with code %d%s and was restarted", r.Container, r.ExitCode, reason)
}

// restartedText as a pattern.
var restartedText = regexp.MustCompile(`; before that, container (\S+) exited with code (-?\d+)(?: \(([^()]*)\))? and was restarted$`)

// Text is the evidence, and which rule matched. names are those of the rules.
func (c Cause) Text(names rulename.Names) string {
	switch {
	case c.Judged && c.Rule != failurepolicy.NoRule:
		name := names.Name(c.Rule)
		if name != "" {
			name = ` "` + name + `"`
		}
		return fmt.Sprintf("%s; rule %d%s of the podFailurePolicy matched: %s", c.Evidence(), c.Rule, name, c.Action)
	case c.Judged:
		return c.Evidence() + noRuleText
	}
	return c.Evidence()
}

// ruleText is what Text appends to the evidence when a rule matched.
var ruleText = regexp.MustCompile(`; rule (\d+)(?: "([^"]*)")? of the podFailurePolicy matched: (\w+)$`)

// noRuleText is what it appends when none did.
const noRuleText = "; no rule of the podFailurePolicy matched"

// Told is what can be read from a Text, when the pod is gone and an event is all that is
// left of it.
type Told struct {
	Evidence string
	// Restarted is part of the evidence.
	Restarted Exit
	// Rule is failurepolicy.NoRule if none matched.
	Rule     int32
	RuleName string
	Action   batchv1.PodFailurePolicyAction
}

// Parse reads a Text. What is none is all evidence.
func Parse(text string) Told {
	m := ruleText.FindStringSubmatchIndex(text)
	if m == nil {
		evidence := strings.TrimSuffix(text, noRuleText)
		return Told{Evidence: evidence, Restarted: parseRestarted(evidence), Rule: failurepolicy.NoRule}
	}
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return text[m[2*i]:m[2*i+1]]
	}
	rule, err := strconv.ParseInt(group(1), 10, 32)
	if err != nil {
		return Told{Evidence: text, Rule: failurepolicy.NoRule}
	}
	return Told{
		Evidence: text[:m[0]], Restarted: parseRestarted(text[:m[0]]),
		Rule: int32(rule), RuleName: group(2), Action: batchv1.PodFailurePolicyAction(group(3)),
	}
}

// parseRestarted reads what restartedText wrote, if it did.
func parseRestarted(evidence string) Exit {
	m := restartedText.FindStringSubmatch(evidence)
	if m == nil {
		return Exit{}
	}
	code, err := strconv.ParseInt(m[2], 10, 32)
	if err != nil {
		return Exit{}
	}
	return Exit{Container: m[1], ExitCode: int32(code), Reason: m[3]}
}
