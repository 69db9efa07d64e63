// Package evidence builds the chain behind the end of a Job: the condition, its limit or rule, the most informative pod,
// its container, its termination message, and the end of its log.
package evidence

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/endings"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Values are the inputs of the chain besides the facts and the failures.
type Values struct {
	Accounting *account.Accounting
	// Limit describes the limit of the spec that ended the Job, "" if it is unknown.
	Limit  string
	Policy *explain.FailurePolicy
	// Doubtful reports whether the log of a container that succeeded has an error.
	Doubtful bool
}

// Links returns the links of the chain. A report on a part of the Job, or on a running Job with failures, has only the lower part: pods,
// containers and events.
func Links(in *facts.Facts, failed *failures.Failures, v *Values, o explain.Options) []explain.Evidence {
	var chain []explain.Evidence
	end := &in.Decision
	if !o.IsNarrow() {
		chain = conditionEvidence(in)
		if v.Limit != "" {
			chain = append(chain, explain.Evidence{Kind: explain.EvidenceLimit, Text: v.Limit})
		}
		if end.Failing() && end.HasRule() {
			chain = append(chain, ruleLink(in, &v.Policy.Rules[end.Rule]))
		}
	}
	if end.Decided() && !end.Failing() {
		return append(chain, outputLinks(in, v.Doubtful)...)
	}
	example := failed.Example
	if example == nil {
		if loop := loopLinks(in, o); len(loop) > 0 && !end.Decided() {
			return append(chain, loop...)
		}
		if end.Failing() || in.Job.Status.Failed > 0 {
			return append(chain, missingEvidence(in, failed, v.Accounting, o)...)
		}
		return append(chain, outputLinks(in, true)...)
	}
	if example.Matched() && example.Match.Rule != end.Rule {
		chain = append(chain, ruleLink(in, &v.Policy.Rules[example.Match.Rule]))
	}
	return append(chain, podEvidence(in, example)...)
}

func conditionEvidence(in *facts.Facts) []explain.Evidence {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		if c := reconcile.TrueCondition(in.Job, t); c != nil {
			return []explain.Evidence{{
				Kind: explain.EvidenceCondition, Text: words.ConditionEvidence(c), Condition: string(t), Reason: c.Reason, Time: explain.TimeOf(c.LastTransitionTime.Time),
			}}
		}
	}
	return nil
}

// ruleLink describes a rule of the podFailurePolicy, by the name that it had when it failed the Job.
func ruleLink(in *facts.Facts, rule *explain.FailureRule) explain.Evidence {
	name := rule.Name
	if rule.Index == in.Decision.Rule {
		name = cmp.Or(name, in.Decision.RuleName)
	}
	return explain.Evidence{Kind: explain.EvidenceRule, Rule: ptr.To(rule.Index), RuleName: name, Text: words.RuleEvidence(rule, name)}
}

// podEvidence returns the evidence of a failed pod: its container, and the end of its log.
func podEvidence(in *facts.Facts, f *failures.Failure) []explain.Evidence {
	p := f.Pod
	attempts := int32(0)
	if in.PerIndex() {
		attempts = max(in.AllowedAttempts(p.Ignored), p.Attempt)
	}
	link := podLink(p, attempts)
	if p.Disruption != "" {
		link.Lines = words.LastLines(p.DisruptionMessage)
	}
	chain := []explain.Evidence{link}
	c := f.Container()
	if message := wording.Join(": ", p.StatusReason, p.Message); message != "" && (c == nil || f.Ending() != nil) {
		chain = append(chain, explain.Evidence{Kind: explain.EvidenceNote, Text: message})
	}
	if c == nil {
		return chain
	}
	return append(chain, containerChain(in, f, c)...)
}

// podLink describes a pod with its attempt out of attempts, 0 for no limit.
func podLink(p *input.Pod, attempts int32) explain.Evidence {
	link := explain.Evidence{Kind: explain.EvidencePod, Pod: p.Name, Attempt: p.Attempt, Time: explain.TimeOf(p.FinishedAt), Text: words.PodEvidence(p, attempts)}
	if p.Index >= 0 {
		link.Index = ptr.To(p.Index)
	}
	return link
}

// containerChain returns how the container of a failed pod ended, and the end of its log.
func containerChain(in *facts.Facts, f *failures.Failure, c *input.Container) []explain.Evidence {
	p := f.Pod
	// The end of the pod already explains a signal.
	known := facts.EndErrorIn(c)
	if f.Speaking(in) == c {
		known = f.KnownError(in)
	}
	chain := []explain.Evidence{containerEvidence(in, p.Name, c, known, f.Ending() == nil && p.Disruption == "" && len(f.AfterSuccess(in)) == 0 || !facts.IsStopped(c))}
	if f.EndedByInit(in) {
		chain[0].Text = words.Clauses([]string{chain[0].Text, words.NeverStartedText(in.MainContainers())})
	}
	chain = append(chain, logLinks(in, p.Name, c)...)
	for _, other := range f.Others() {
		chain = append(append(chain, containerEvidence(in, p.Name, other, facts.EndErrorIn(other), true)), logLinks(in, p.Name, other)...)
	}
	return chain
}

// outputLinks returns a pod that has not failed, and the end of its log, if that was read and belongs into the evidence.
func outputLinks(in *facts.Facts, belongs bool) []explain.Evidence {
	for i := range in.Logs {
		pod := input.PodNamed(in.Pods, in.Logs[i].Pod)
		if belongs && pod != nil && pod.Phase != corev1.PodFailed && len(in.Logs[i].Lines) > 0 {
			return append([]explain.Evidence{podLink(pod, 0)}, logLinks(in, pod.Name, &input.Container{Name: in.Logs[i].Container, ExitCode: 1})...)
		}
	}
	return nil
}

// logLinks returns the end of the container's log, as far as it was read.
func logLinks(in *facts.Facts, pod string, c *input.Container) []explain.Evidence {
	tail := in.TailOf(pod, c.Name)
	if tail == nil || len(tail.Lines) == 0 {
		return nil
	}
	link := explain.Evidence{
		Kind: explain.EvidenceLogs, Pod: pod, Container: c.Name, Lines: tail.Lines, LinesAfter: int32(tail.After), Text: words.LogEvidence(len(tail.Lines), tail.After, tail.Whole),
	}
	if at := meaning.LineOfError(c.ExitCode, tail.Lines); at >= 0 {
		link.ErrorLine = ptr.To(int32(at))
	}
	return []explain.Evidence{link}
}

// loopLinks returns how the container of the first pod in a crash loop, or that runs again, ended last, and the end of its log;
// nil if there is none.
func loopLinks(in *facts.Facts, o explain.Options) []explain.Evidence {
	for _, p := range in.Active {
		if c := cmp.Or(in.CrashLoop(p), in.Restarted(p)); c != nil && c.Ended && o.HasPod(p) {
			chain := []explain.Evidence{podLink(p, 0), containerEvidence(in, p.Name, c, facts.EndErrorIn(c), !facts.IsStopped(c))}
			return append(chain, logLinks(in, p.Name, c)...)
		}
	}
	return nil
}

// containerEvidence returns the end of a container, with the error that it reports or nil; guess adds the usual meaning of
// its exit code.
func containerEvidence(in *facts.Facts, pod string, c *input.Container, known *meaning.KnownError, guess bool) explain.Evidence {
	return explain.Evidence{
		Kind: explain.EvidenceContainer, Pod: pod, Container: c.Name, Text: words.ContainerEvidence(c, known, facts.LimitOfKilled(in, c), guess),
		ExitCode: ptr.To(c.ExitCode), Signal: cause.Signal(c.ExitCode), Reason: c.Reason,
		Lines: words.LastLines(c.Message), Time: explain.TimeOf(c.EndedAt),
	}
}

// maxEvents is the maximum number of links from events.
const maxEvents = 5

// missingEvidence explains why the chain ends early, because pods no longer exist or could not be read, and adds events instead.
func missingEvidence(in *facts.Facts, failed *failures.Failures, a *account.Accounting, o explain.Options) []explain.Evidence {
	var chain []explain.Evidence
	switch {
	case o.IsNarrow():
	case in.Decision.MatchedPod.Name != "":
		// What the condition's message reports about a pod that no longer exists.
		p := &in.Decision.MatchedPod
		chain = []explain.Evidence{{Kind: explain.EvidenceNote, Pod: p.Name, Text: words.MatchedPodGoneText(p.Name, in.PodsRead)}}
		if p.Container != "" {
			chain = append(chain, containerEvidence(in, p.Name, &input.Container{Name: p.Container, ExitCode: p.ExitCode}, nil, true))
		}
	case in.Job.Status.Failed > 0 && in.PodsRead && len(failed.All) == 0:
		failedOnItsOwn := func(c explain.Cause) bool { return c.Stopped == "" }
		deleted := a.Unexplained == 0 && !slices.ContainsFunc(a.Causes, failedOnItsOwn)
		text := words.GoneText(in.Job.Status.Failed, deleted)
		if deleted && failed.NeverStarted != nil {
			text = words.NoneStartedText(in.Job.Status.Failed)
		}
		chain = []explain.Evidence{{Kind: explain.EvidenceNote, Text: text}}
	}
	events := 0
	for i := range in.Events {
		if e := &in.Events[i]; events < maxEvents && isEvidence(in, e, o) {
			chain = append(chain, explain.Evidence{Kind: explain.EvidenceEvent, Pod: e.Pod, Reason: e.Reason, Text: words.EventEvidence(e), Time: explain.TimeOf(e.Last)})
			events++
		}
	}
	return chain
}

// isEvidence reports whether the event may explain failures: a warning about the pod that a rule matched, if it is known,
// or about any pod.
func isEvidence(in *facts.Facts, e *input.Event, o explain.Options) bool {
	ending, _ := endings.OfEvent(e)
	switch {
	case !o.HasEvent(e) || !e.Warning() && ending == nil || e.IsAboutNodeSetup():
		return false
	case e.Pod == "":
		return e.Reason == failures.EventPodFailed
	}
	return in.Decision.MatchedPod.Name == "" || e.Pod == in.Decision.MatchedPod.Name
}
