package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// evidence is the chain behind the end of the Job: the condition, the rule or the limit
// behind it, the pod that says most, its container, its last words. A Job that has
// failures and still runs has the lower part of it.
func (a *numbers) evidence() []explain.Evidence {
	var chain []explain.Evidence
	if !a.focused() {
		chain = append(a.conditionEvidence(), a.limitEvidence()...)
		if a.outcome.failing() && a.hasRule(a.outcome.rule) {
			chain = append(chain, a.ruleEvidence(a.outcome.rule))
		}
	}
	if a.outcome.Fate == explain.FateComplete || a.outcome.Fate == explain.FateSucceeding {
		return chain
	}
	example := a.example()
	if example == nil {
		if a.outcome.failing() || a.job.Status.Failed > 0 {
			chain = append(chain, a.missingEvidence()...)
		}
		return chain
	}
	if m := example.match; m != nil && m.Matched() && m.Rule != a.outcome.rule {
		chain = append(chain, a.ruleEvidence(m.Rule))
	}
	return append(chain, a.podEvidence(example)...)
}

func (a *analysis) conditionEvidence() []explain.Evidence {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		c := reconcile.TrueCondition(a.job, t)
		if c == nil {
			continue
		}
		text := fmt.Sprintf("condition %s: %s", t, c.Reason)
		if c.Message != "" {
			text += ", " + words.Quoted(c.Message)
		}
		return []explain.Evidence{{Kind: explain.EvidenceCondition, Text: text, Condition: string(t), Reason: c.Reason, Time: explain.TimeOf(c.LastTransitionTime.Time)}}
	}
	return nil
}

// limitEvidence is the limit of the spec that was passed.
func (a *numbers) limitEvidence() []explain.Evidence {
	limit := func(format string, args ...any) []explain.Evidence {
		return []explain.Evidence{{Kind: explain.EvidenceLimit, Text: fmt.Sprintf(format, args...)}}
	}
	spec, failed := a.spec, a.job.Status.Failed+int32(a.uncountedFailed())
	switch a.outcome.reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		if spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
			return limit("backoffLimit %d: with restartPolicy OnFailure, container restarts count too%s; %s", jobspec.BackoffLimit(spec), a.restartsText(), words.Times(failed, "pod counts as failed", "pods count as failed"))
		}
		return limit("backoffLimit %d: %s", jobspec.BackoffLimit(spec), words.Times(failed, "pod failed", "pods failed"))
	case batchv1.JobReasonDeadlineExceeded:
		if spec.ActiveDeadlineSeconds != nil {
			return limit("activeDeadlineSeconds %d%s", *spec.ActiveDeadlineSeconds, a.ranUntilDecided())
		}
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		_, lost := a.endedIndexes()
		return limit("maxFailedIndexes %d: %s failed (%s)", ptr.Deref(spec.MaxFailedIndexes, 0), words.Times(int32(lost.Len()), "index", "indexes"), crop(lost.String()))
	case batchv1.JobReasonFailedIndexes:
		_, lost := a.endedIndexes()
		return limit("%s of %s failed (%s); each may have %s (backoffLimitPerIndex %d)", words.Number(int32(lost.Len())), words.Times(ptr.Deref(spec.Completions, 0), "index", "indexes"), crop(lost.String()),
			words.Times(a.attempts(), "attempt", "attempts"), ptr.Deref(spec.BackoffLimitPerIndex, 0))
	case batchv1.JobReasonSuccessPolicy:
		for _, r := range rulesOf(a.success) {
			if r.Met {
				return limit("rule %d of the successPolicy: %s succeeded", r.Index, r.Text)
			}
		}
	case batchv1.JobReasonCompletionsReached:
		if spec.Completions != nil {
			return limit("completions %d: %s", *spec.Completions, words.Count(a.succeededNow(), "succeeded"))
		}
	}
	return nil
}

// rulesOf are the rules, none of a nil policy.
func rulesOf(p *explain.SuccessPolicy) []explain.SuccessRule {
	if p == nil {
		return nil
	}
	return p.Rules
}

func (a *analysis) attempts() int32 {
	return int32(min(int64(ptr.Deref(a.spec.BackoffLimitPerIndex, 0))+1, 1<<31-1))
}

func (a *analysis) uncountedFailed() int {
	if u := a.job.Status.UncountedTerminatedPods; u != nil {
		return len(u.Failed)
	}
	return 0
}

// ranUntilDecided is how long the Job ran before its end was decided, "" if nobody knows.
func (a *analysis) ranUntilDecided() string {
	start := a.job.Status.StartTime
	if start.IsZero() || a.outcome.since.IsZero() {
		return ""
	}
	return ": the Job had run for " + words.Age(a.outcome.since.Sub(start.Time))
}

// maxList is where a list of indexes is cut within a sentence.
const maxList = 50

// crop cuts a list of intervals behind a comma, so that no interval is cut in two (CLI-02).
func crop(list string) string { return explain.Crop(list, maxList) }

func (a *analysis) ruleEvidence(index int32) explain.Evidence {
	rule := &a.spec.PodFailurePolicy.Rules[index]
	name := a.names.Name(index)
	if index == a.outcome.rule {
		name = cmp.Or(name, a.outcome.ruleName)
	}
	return explain.Evidence{
		Kind: explain.EvidenceRule, Rule: ptr.To(index), RuleName: name,
		Text: fmt.Sprintf("%s of the podFailurePolicy: %s if %s", ruleLabel(index, name), rule.Action, requirement(rule)),
	}
}

// examples are failures worth a look, the most telling first: the culprit that the
// condition names, those of indexes that failed the Job, then the latest of each cause.
func (a *analysis) examples() []*failure {
	var out []*failure
	if name := a.outcome.culprit.pod; name != "" {
		for i := range a.failures {
			if a.failures[i].pod.Name == name {
				out = append(out, &a.failures[i])
			}
		}
	}
	for _, g := range slices.Concat(group(a.decisive()), a.groups()) {
		if f := g.failures[0]; !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	if f := a.restartedFailure(); len(out) == 0 && f != nil {
		out = append(out, f)
	}
	return out
}

func (a *analysis) example() *failure {
	stopped := a.outcome.reason == batchv1.JobReasonDeadlineExceeded || a.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
	if all := a.examples(); len(all) > 0 && (!all[0].consequence || a.focused() || stopped) {
		return all[0]
	}
	return nil
}

// podEvidence is a pod that failed, its container, and its last words.
func (a *analysis) podEvidence(f *failure) []explain.Evidence {
	p := f.pod
	link := explain.Evidence{Kind: explain.EvidencePod, Pod: p.Name, Attempt: p.Attempt, Time: explain.TimeOf(p.FinishedAt), Text: a.podText(p)}
	if p.Index >= 0 {
		link.Index = ptr.To(p.Index)
	}
	if p.Disruption != "" {
		link.Text += fmt.Sprintf(", disrupted: %s", p.Disruption)
		if m := podMeaning(p.Disruption); m != "" {
			link.Text += " (" + m + ")"
		}
		link.Lines = lines(p.DisruptionMessage)
	}
	chain := []explain.Evidence{link}
	c := f.container()
	if c == nil {
		if p.Message != "" || p.StatusReason != "" {
			chain = append(chain, explain.Evidence{Kind: explain.EvidenceNote, Text: words.Joined(": ", p.StatusReason, p.Message)})
		}
		return chain
	}
	// The reason of a disruption says why a signal ended the container.
	chain = append(chain, containerEvidence(p.Name, c, p.Disruption == "" || !isStopped(c)))
	for _, tail := range a.Logs {
		if tail.Pod == p.Name && tail.Container == c.Name && len(tail.Lines) > 0 {
			chain = append(chain, explain.Evidence{
				Kind: explain.EvidenceLogs, Pod: p.Name, Container: c.Name, Lines: tail.Lines,
				Text: fmt.Sprintf("the last %s of its log", words.Times(int32(len(tail.Lines)), "line", "lines")),
			})
		}
	}
	return chain
}

func (a *analysis) podText(p *explain.Pod) string {
	text := "pod " + p.Name
	var about []string
	if p.Index >= 0 {
		about = append(about, fmt.Sprintf("index %d", p.Index))
	}
	if p.Attempt > 0 {
		attempt := fmt.Sprintf("attempt %d", p.Attempt)
		if a.perIndex() {
			attempt += fmt.Sprintf(" of %d", max(a.allowed(p.Ignored), p.Attempt))
		}
		about = append(about, attempt)
	}
	if len(about) > 0 {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	if p.Node != "" {
		text += " on node " + p.Node
	}
	return text
}

// containerEvidence is how a container ended; guess adds what its exit code usually means.
func containerEvidence(pod string, c *explain.Container, guess bool) explain.Evidence {
	kind := "container"
	if c.Init {
		kind = "init container"
	}
	text := fmt.Sprintf("%s %s ended with %s", kind, c.Name, cause.ExitText(c.ExitCode, c.Reason))
	if !c.StartedAt.IsZero() && c.EndedAt.After(c.StartedAt) {
		text += " after " + words.Age(c.EndedAt.Sub(c.StartedAt))
	}
	if c.Before {
		text += ", before it was restarted"
	}
	if m := cause.MeaningOnly(c.ExitCode, c.Reason); m != "" && guess {
		text += ": " + m
	}
	return explain.Evidence{
		Kind: explain.EvidenceContainer, Pod: pod, Container: c.Name, Text: text, ExitCode: ptr.To(c.ExitCode), Signal: cause.Signal(c.ExitCode), Reason: c.Reason,
		Lines: lines(c.Message), Time: explain.TimeOf(c.EndedAt),
	}
}

// lines are those of a message, at most 10, without empty ones at the end.
func lines(message string) []string {
	message = strings.TrimRight(message, " \r\n\t")
	if message == "" {
		return nil
	}
	all := strings.Split(message, "\n")
	return all[max(0, len(all)-10):]
}

// missingEvidence says why the chain ends: pods are gone, or could not be read; and what
// events tell instead.
func (a *numbers) missingEvidence() []explain.Evidence {
	var chain []explain.Evidence
	switch {
	case a.focused():
	case a.outcome.culprit.pod != "":
		chain = a.goneCulprit()
	case a.job.Status.Failed > 0 && a.PodsRead && len(a.failures) == 0:
		chain = []explain.Evidence{{Kind: explain.EvidenceNote, Text: a.goneText()}}
	}
	told := 0
	for i := range a.Events {
		if e := &a.Events[i]; told < maxEvents && a.isEvidence(e) {
			chain = append(chain, eventEvidence(e))
			told++
		}
	}
	return chain
}

// goneText is about failed pods of which none is left.
func (a *numbers) goneText() string {
	n := a.job.Status.Failed
	deletedAll := a.untold == 0 && !slices.ContainsFunc(a.causes, func(c explain.Cause) bool { return c.Stopped == "" })
	switch {
	case deletedAll && n == 1:
		return "the Job's controller deleted the pod that ran, and its log is gone"
	case deletedAll:
		return fmt.Sprintf("the Job's controller deleted the %s that ran, and their logs are gone", words.Count(n, "pods"))
	case n == 1:
		return "the failed pod is gone, and so is its log"
	}
	return fmt.Sprintf("the %s are gone, and so are their logs", words.Count(n, "failed pods"))
}

// goneCulprit is what the condition's message says about a pod that is gone.
func (a *analysis) goneCulprit() []explain.Evidence {
	k := a.outcome.culprit
	text := fmt.Sprintf("pod %s is gone; the condition's message is the only record of it", k.pod)
	if !a.PodsRead {
		text = fmt.Sprintf("pod %s could not be read", k.pod)
	}
	chain := []explain.Evidence{{Kind: explain.EvidenceNote, Pod: k.pod, Text: text}}
	if k.container != "" {
		chain = append(chain, containerEvidence(k.pod, &explain.Container{Name: k.container, ExitCode: k.exitCode}, true))
	}
	return chain
}

// isEvidence reports whether the event may show why pods failed: a warning about the culprit, if
// that is known, or about any pod.
func (a *analysis) isEvidence(e *explain.Event) bool {
	switch {
	case !e.Warning() || e.IsAboutNodeSetup() || !a.eventInFocus(e):
		return false
	case e.Pod == "":
		return e.Reason == eventPodFailed
	}
	return a.outcome.culprit.pod == "" || e.Pod == a.outcome.culprit.pod
}

func eventEvidence(e *explain.Event) explain.Evidence {
	text := e.Reason + ": " + e.Message
	if e.Count > 1 {
		text = fmt.Sprintf("%s (%s)", text, words.Count(e.Count, "times"))
	}
	return explain.Evidence{Kind: explain.EvidenceEvent, Pod: e.Pod, Reason: e.Reason, Text: text, Time: explain.TimeOf(e.Last)}
}

// maxEvents is how many links of a chain come from events.
const maxEvents = 5

func (a *analysis) eventInFocus(e *explain.Event) bool {
	return a.o.Index == nil && (a.o.Pod == "" || a.o.Pod == e.Pod)
}

// noRule reports whether no rule failed the Job.
func (f outcome) noRule() bool { return f.rule == failurepolicy.NoRule }
