package words

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// ConditionEvidence describes a condition of the Job, with its reason and message.
func ConditionEvidence(c *batchv1.JobCondition) string {
	text := fmt.Sprintf("condition %s: %s", c.Type, c.Reason)
	if c.Message != "" {
		text += ", " + wording.Quoted(c.Message)
	}
	return text
}

// RuleEvidence describes a rule of the podFailurePolicy.
func RuleEvidence(rule *explain.FailureRule, name string) string {
	return fmt.Sprintf("%s of the podFailurePolicy: %s if %s", RuleLabel(rule.Index, name), rule.Action, rule.Requirement)
}

// PodEvidence describes a failed pod: its index, the number of its attempt out of attempts (0 for no limit), its node, and
// its disruption.
func PodEvidence(p *input.Pod, attempts int32) string {
	text := "pod " + p.Name
	var about []string
	if p.Index >= 0 {
		about = append(about, fmt.Sprintf("index %d", p.Index))
	}
	if p.Attempt > 0 {
		attempt := fmt.Sprintf("attempt %d", p.Attempt)
		if attempts > 0 {
			attempt += fmt.Sprintf(" of %d", attempts)
		}
		about = append(about, attempt)
	}
	if len(about) > 0 {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	if p.Node != "" {
		text += " on node " + p.Node
	}
	if p.Disruption != "" {
		text += ", disrupted: " + p.Disruption
		if m := PodMeaning(p.Disruption); m != "" && (p.Disruption != "TerminationByKubelet" || p.Message+p.DisruptionMessage == "") {
			text += " (" + m + ")"
		}
	}
	return text
}

// ContainerEvidence describes the end of a container, with the known error that it reports, or the memory limit that it exceeded; without
// both, guess adds the usual meaning of its exit code.
func ContainerEvidence(c *input.Container, known *meaning.KnownError, limit *input.MemoryLimit, guess bool) string {
	kind := "container"
	if c.Init {
		kind = "init container"
	}
	text := fmt.Sprintf("%s %s %s", kind, c.Name, cause.ExitText(c.ExitCode, c.Reason))
	if !c.StartedAt.IsZero() && c.EndedAt.After(c.StartedAt) {
		text += " after " + wording.Age(c.EndedAt.Sub(c.StartedAt))
	}
	if c.Before {
		text += ", before it was restarted"
	}
	if known != nil {
		return text + errorClause(known)
	}
	if m := cause.Meaning(c.ExitCode, c.Reason); limit != nil {
		text += limitClause(limit)
	} else if m != "" && guess {
		text += ": " + m
	}
	return text
}

// NeverStartedText names the containers that an init container kept from starting.
func NeverStartedText(containers []string) string {
	return fmt.Sprintf("%s never started", ContainersText(containers))
}

// LogEvidence introduces the end of a log, or the lines from its error on.
func LogEvidence(lines, after int, whole bool) string {
	switch {
	case after > 0:
		return fmt.Sprintf("%s of its log; %s", wording.Plural(lines, "line", "lines"), wording.Plural(after, "more follows", "more follow"))
	case whole:
		return fmt.Sprintf("its whole log, %s", wording.Plural(lines, "line", "lines"))
	}
	return fmt.Sprintf("the last %s of its log", wording.Plural(lines, "line", "lines"))
}

// EventEvidence describes an event.
func EventEvidence(e *input.Event) string {
	text := e.Reason + ": " + e.Message
	if e.Count > 1 {
		text = fmt.Sprintf("%s (%s)", text, wording.Count(e.Count, "times"))
	}
	return text
}

// GoneText describes failed pods that no longer exist; deleted is whether the Job's controller deleted all of them.
func GoneText(n int32, deleted bool) string {
	switch {
	case deleted && n == 1:
		return "the Job's controller deleted the pod, and any log of it is gone"
	case deleted:
		return fmt.Sprintf("the Job's controller deleted the %s, and any logs of them are gone", wording.Count(n, "pods"))
	case n == 1:
		return "the failed pod and its log are gone"
	}
	return fmt.Sprintf("%s and their logs are gone", wording.Count(n, "failed pods"))
}

// MatchedPodGoneText describes the pod that a condition names and that does not exist, or could not be read.
func MatchedPodGoneText(pod string, read bool) string {
	if !read {
		return fmt.Sprintf("pod %s could not be read", pod)
	}
	return fmt.Sprintf("pod %s is gone; the condition's message is the only record of it", pod)
}
