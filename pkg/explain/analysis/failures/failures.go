// Package failures finds the failed pods of a Job, and why they failed.
package failures

import (
	"cmp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/endings"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// Failure is a pod that failed.
type Failure struct {
	Pod *input.Pod
	// Match is the match of the podFailurePolicy, nil if it was not applied.
	Match *failurepolicy.Match
	// Kind is shared by all failures with the same cause.
	Kind *Kind
	// Consequence reports whether the pod was stopped because the Job was ending.
	Consequence bool
	// Stopped is why the Job's controller deleted the pod, "" if the pod failed on its own or may have been deleted by another client.
	Stopped explain.StopReason
	// endMessage is the message of the Ending in Kind.
	endMessage string
}

// Kind is a cause with its text, and the Ending if pods were ended from outside their containers. Hidden is zero unless a
// rule hides the failure.
type Kind struct {
	Cause  cause.Cause
	Text   string
	Ending meaning.Ending
	Hidden explain.Hidden
}

// Failures are the failed pods that a report is about, and their evaluation.
type Failures struct {
	// All are the failures, the latest first.
	All []Failure
	// Own is the number of failures that are not a consequence of the end of the Job.
	Own int32
	// Restarts are the restarts of containers, if they count towards the backoffLimit.
	Restarts Restarts
	// NeverStarted is set if the deadline of the Job passed before any of its pods started.
	NeverStarted *endings.NeverStarted
	// Outlived is a pod that only some of its containers kept running until the deadline of the Job, or nil.
	Outlived *explain.Outlived
	// Groups are All by cause, the most frequent first, and consequences of the end of the Job last.
	Groups []*Group
	// Decisive are the groups of the failures that failed the Job, if the Job's reason distinguishes them from others.
	Decisive []*Group
	// EventEnds are the ends of pods that events show, by pod name.
	EventEnds map[string]endings.PodEnd
	// lastOfIndexes are the last failures of indexes that have failed.
	lastOfIndexes []*Failure
	// Examples are failures worth a look, the most informative first. Example is the first of them, nil if it explains nothing.
	Examples []*Failure
	Example  *Failure
}

// Find returns the failures of the pods that the report is about.
func Find(in *facts.Facts, o explain.Options) *Failures {
	fs := &Failures{All: collect(in, o), EventEnds: endings.FromEvents(in)}

	// Pods that were stopped because the Job ended are consequences. But if no other failures explain why the backoffLimit
	// was exceeded, the deletions in that very second are the reason.
	fs.Own = own(fs.All)
	if !ExplainedWithoutDeletions(in, fs) {
		for i := range fs.All {
			if f := &fs.All[i]; in.Decision.Since.IsZero() || f.Pod.DeletedAt.Equal(in.Decision.Since) {
				f.Consequence = false
			}
		}
		fs.Own = own(fs.All)
	}
	for i := range fs.All {
		fs.All[i].Stopped = stopReason(in, &fs.All[i])
	}
	setEndings(fs)

	// The latest first. The sort is stable, so that pods that ended in the same second stay in order.
	slices.SortStableFunc(fs.All, func(x, y Failure) int { return y.Pod.FinishedAt.Compare(x.Pod.FinishedAt) })

	// Common causes, and the most informative failures.
	fs.Restarts = restartsOf(in, fs)
	fs.NeverStarted = endings.WhyNeverStarted(in)
	fs.Outlived = endings.FindOutlived(in)
	all := make([]*Failure, len(fs.All))
	for i := range fs.All {
		all[i] = &fs.All[i]
	}
	fs.Groups = group(all)
	fs.lastOfIndexes = lastOfIndexes(in, fs.All)
	ended := in.Decision.EndedBy
	if ended == explain.EndedByFailedIndexes || ended == explain.EndedByMaxFailedIndexes {
		fs.Decisive = group(fs.lastOfIndexes)
	}
	fs.Examples = examples(in, fs, o)
	// A stopped pod may explain the failure of the Job if it ran at the deadline, or if its containers had been restarted.
	stopsExplain := ended == explain.EndedByDeadline || in.RestartsCount()
	if len(fs.Examples) > 0 && (!fs.Examples[0].Consequence || o.IsNarrow() || stopsExplain) {
		fs.Example = fs.Examples[0]
	}
	return fs
}

// collect finds the pods in phase Failed, and terminating pods that the accounting counts as failed already
// (podReplacementPolicy TerminatingOrFailed).
func collect(in *facts.Facts, o explain.Options) []Failure {
	recorded := map[types.UID]bool{}
	for _, f := range in.Plan.Findings.RecordedFailed {
		recorded[f.Pod.UID] = true
	}
	known := map[Kind]*Kind{} // by Kinds without Text, which is made once
	all := make([]Failure, 0, int(in.FailedPods)+len(in.Terminating))
	for _, p := range in.Pods {
		counts := !p.IsTerminal() && (recorded[p.UID] || in.Uncounted[p.UID] == corev1.PodFailed || wasCounted(in, p))
		if !o.HasPod(p) || p.Phase != corev1.PodFailed && !counts {
			continue
		}
		match := in.Matches[p.UID]
		key := Kind{Cause: cause.Of(p.AtItsEnd(), match, in.Names), Hidden: hiddenBy(in, p, match)}
		if known[key] == nil {
			kind := key
			if kind.Text = kind.Cause.Failure.Text(); kind.Hidden.Container != "" {
				kind.Text = words.HiddenText(&kind.Hidden, &kind.Cause)
			}
			known[key] = &kind
		}
		all = append(all, Failure{Pod: p, Match: match, Kind: known[key], Consequence: IsConsequence(in, p)})
	}
	return all
}

// wasCounted reports whether the status of an open Job counts a pod as failed that still terminates: the controller has removed its finalizer,
// and has not deleted it because it was one too many.
func wasCounted(in *facts.Facts, p *input.Pod) bool {
	failed := func(c input.Container) bool { return c.Ended && !c.Before && c.ExitCode != 0 }
	isItsOwn := p.Disruption != "" || in.Job.DeletionTimestamp != nil || slices.ContainsFunc(p.Containers, failed)
	return isItsOwn && p.Deleting && !p.Finalizer && !in.Decision.Decided() && jobspec.PodReplacementPolicy(in.Spec) != batchv1.Failed && in.Job.Status.Failed > in.FailedPods
}

// IsConsequence reports whether the pod ended, or will end, because it was deleted after the outcome of the Job was decided.
func IsConsequence(in *facts.Facts, p *input.Pod) bool {
	if p.IsActive() {
		return in.Decision.Decided()
	}
	return in.Decision.Decided() && p.Deleting && !p.DeletedAt.Before(in.Decision.Since) && !p.EndedBeforeDeletion()
}

// ExplainedWithoutDeletions reports whether failures other than deletions explain the end of the Job.
func ExplainedWithoutDeletions(in *facts.Facts, fs *Failures) bool {
	return in.Decision.EndedBy != explain.EndedByBackoffLimit || fs.Own > jobspec.BackoffLimit(in.Spec) || restartsExceeded(in, fs)
}

// own returns the number of failures that are not a consequence of the end of the Job.
func own(all []Failure) int32 {
	n := int32(0)
	for i := range all {
		if !all[i].Consequence {
			n++
		}
	}
	return n
}

// stopReason returns why the controller deleted a pod that failed because of the deletion, "" for other failures.
func stopReason(in *facts.Facts, f *Failure) explain.StopReason {
	p := f.Pod
	if !f.Consequence && (!p.Deleting || p.EndedBeforeDeletion() || p.Disruption != "") {
		return ""
	}
	if at, _ := in.DeletedByController(p.Name, time.Time{}); !at.IsZero() {
		return in.StopReason(at)
	}
	reason := in.StopReason(p.DeletedAt)
	if !f.Consequence && reason != explain.StoppedSuspended {
		return ""
	}
	return reason
}

// setEndings sets the ends of pods from outside their containers, by their status or by events.
func setEndings(fs *Failures) {
	known := map[Kind]*Kind{}
	for i := range fs.All {
		f := &fs.All[i]
		if f.Consequence || f.Stopped != "" {
			continue // The Job's controller deleted it.
		}
		w := endings.OfPod(f.Pod, fs.EventEnds)
		if w.Kind == "" {
			continue
		}
		kind := *f.Kind
		kind.Ending = w.Ending
		c := CauseOf(&kind.Cause, "")
		c.Ending = &kind.Ending
		kind.Text = words.EndingText(&c)
		if known[kind] == nil {
			known[kind] = &kind
		}
		f.Kind, f.endMessage = known[kind], w.Message
	}
}

// Ignored reports whether a rule of the podFailurePolicy keeps the failure from counting.
func (f *Failure) Ignored() bool {
	return f.Match != nil && f.Match.Action == batchv1.PodFailurePolicyActionIgnore
}

// Matched reports whether a rule of the podFailurePolicy matched.
func (f *Failure) Matched() bool { return f.Match != nil && f.Match.Matched() }

// Container returns the container that shows why the pod failed, or nil.
func (f *Failure) Container() *input.Container {
	if f.Consequence {
		// A stopped container shows nothing; its end before a restart may.
		if c := lists.First(f.Pod.Containers, func(c *input.Container) bool { return c.Before && c.ExitCode != 0 }); c != nil {
			return c
		}
	}
	if hidden := &f.Kind.Hidden; hidden.Container != "" {
		return f.Pod.EndOf(hidden.Container, hidden.ExitCode)
	}
	if c := &f.Kind.Cause; c.Container != "" {
		return f.Pod.EndOf(c.Container, c.ExitCode)
	}
	return lists.First(f.Pod.Containers, func(c *input.Container) bool { return c.Ended })
}

// Ending returns the end of the pod from outside its containers, nil if none is known.
func (f *Failure) Ending() *meaning.Ending {
	if f.Kind.Ending.Kind == "" {
		return nil
	}
	return &f.Kind.Ending
}

// NeverRan reports whether the kubelet rejected the pod.
func (f *Failure) NeverRan() bool { return f.Kind.Ending.Kind == meaning.EndRejected }

// Message returns the message of the component that ended the pod, else of the program, else of the kubelet.
func (f *Failure) Message() string {
	if f.Kind.Ending.Kind != "" {
		return f.endMessage
	}
	if c := f.Container(); c != nil && c.Message != "" {
		return strings.TrimSpace(c.Message)
	}
	return strings.TrimSpace(cmp.Or(f.Pod.Message, f.Pod.DisruptionMessage))
}

// PodNames returns the names of the failed pods that exist.
func (fs *Failures) PodNames() map[string]bool {
	names := make(map[string]bool, len(fs.All))
	for i := range fs.All {
		names[fs.All[i].Pod.Name] = true
	}
	return names
}

// HaveLogs reports whether some of the failed pods may have a log; pods that no longer exist have none.
func (fs *Failures) HaveLogs() bool {
	return slices.ContainsFunc(fs.All, func(f Failure) bool {
		c := f.Container()
		return !f.NeverRan() && (c == nil || !c.NeverStarted() && !cause.NeverRan(c.Reason))
	})
}

// EventPodFailed is the reason of the event that our controller writes for each cause; its count includes deleted pods.
const EventPodFailed = "PodFailed"

// IsAboutFailures reports whether our controller wrote the event about failed pods.
func IsAboutFailures(e *input.Event) bool { return e.Reason == EventPodFailed && e.Pod == "" }

// CauseOf returns a cause without its pods; disruption is the reason of the pod's condition DisruptionTarget, "" if it is unknown.
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

// EndWith sets the end of the pods from outside their containers. It clears the usual meaning of their exit codes, which does not apply then.
func EndWith(c *explain.Cause, end meaning.Ending, message string) {
	c.Ending, c.Meaning, c.Message = &end, "", message
	c.Text = words.EndingText(c)
}
