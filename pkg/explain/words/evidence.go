package words

import (
	"fmt"
	"strings"
	"time"

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

// BackoffLimitEvidence returns the backoffLimit and the number of failed pods.
func BackoffLimitEvidence(limit, failed int32) string {
	return fmt.Sprintf("backoffLimit %d: %s", limit, wording.Plural(failed, "pod failed", "pods failed"))
}

// RestartsEvidence returns the backoffLimit of a Job whose restarts count, the number of known restarts (0 for too few to
// explain the failure), and the number of pods that count as failed.
func RestartsEvidence(limit, restarts, failed int32) string {
	known := ""
	if restarts > 0 {
		known = fmt.Sprintf(" (%s)", wording.Plural(restarts, "restart", "restarts"))
	}
	return fmt.Sprintf("backoffLimit %d: with restartPolicy OnFailure, container restarts count too%s; %s", limit, known, wording.Plural(failed, "pod counts as failed", "pods count as failed"))
}

// DeadlineEvidence returns activeDeadlineSeconds and how long the Job ran; ran is nil if it is unknown.
func DeadlineEvidence(deadline int64, ran *time.Duration) string {
	text := fmt.Sprintf("activeDeadlineSeconds %d", deadline)
	if ran != nil {
		text += ": the Job had run for " + wording.Age(*ran)
	}
	return text
}

// MaxFailedIndexesEvidence returns maxFailedIndexes and the failed indexes.
func MaxFailedIndexesEvidence(limit, failed int32, list string) string {
	return fmt.Sprintf("maxFailedIndexes %d: %s failed (%s)", limit, wording.Plural(failed, "index", "indexes"), crop(list))
}

// FailedIndexesEvidence returns the failed indexes, and the number of attempts that each index may have.
func FailedIndexesEvidence(failed int32, list string, completions, attempts, limitPerIndex int32) string {
	return fmt.Sprintf("%s of %s failed (%s); each may have %s (backoffLimitPerIndex %d)", wording.Thousands(failed), wording.Plural(completions, "index", "indexes"), crop(list),
		wording.Plural(attempts, "attempt", "attempts"), limitPerIndex)
}

// SuccessRuleEvidence describes a rule of the successPolicy that is met.
func SuccessRuleEvidence(r *explain.SuccessRule) string {
	return fmt.Sprintf("rule %d of the successPolicy: %s succeeded", r.Index, r.Text)
}

// CompletionsEvidence returns completions and the number of succeeded pods.
func CompletionsEvidence(completions, succeeded int32) string {
	return fmt.Sprintf("completions %d: %s", completions, wording.Count(succeeded, "succeeded"))
}

// RuleEvidence describes a rule of the podFailurePolicy.
func RuleEvidence(index int32, name string, rule *batchv1.PodFailurePolicyRule) string {
	return fmt.Sprintf("%s of the podFailurePolicy: %s if %s", RuleLabel(index, name), rule.Action, requirement(rule))
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

// ContainerEvidence describes the end of a container, with the known error that it reports; without one, guess adds the
// usual meaning of its exit code.
func ContainerEvidence(c *input.Container, known *meaning.KnownError, guess bool) string {
	kind := "container"
	if c.Init {
		kind = "init container"
	}
	text := fmt.Sprintf("%s %s %s", kind, c.Name, exited(c.ExitCode, c.Reason))
	if !c.StartedAt.IsZero() && c.EndedAt.After(c.StartedAt) {
		text += " after " + wording.Age(c.EndedAt.Sub(c.StartedAt))
	}
	if c.Before {
		text += ", before it was restarted"
	}
	if known != nil {
		return text + said(known, "")
	}
	if m := cause.Meaning(c.ExitCode, c.Reason); m != "" && guess {
		text += ": " + m
	}
	return text
}

// LogEvidence introduces the end of a log.
func LogEvidence(lines int) string {
	return fmt.Sprintf("the last %s of its log", wording.Plural(int32(lines), "line", "lines"))
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
		return "the Job's controller deleted the pod that ran, and its log is gone"
	case deleted:
		return fmt.Sprintf("the Job's controller deleted the %s that ran, and their logs are gone", wording.Count(n, "pods"))
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
