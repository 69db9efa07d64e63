package reconcile

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// Lines returns the findings for a log, one per line, with times relative to now.
func (f *Findings) Lines(now time.Time) []string {
	t := &findingsText{now: now}
	t.addJob(f)
	t.addPods(f)
	t.addEnd(f)
	t.addCreation(f)
	return t.lines
}

type findingsText struct {
	now   time.Time
	lines []string
}

func (t *findingsText) add(format string, args ...any) {
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

func (t *findingsText) until(at time.Time) string {
	return fmt.Sprintf("%+.0fs", at.Sub(t.now).Seconds())
}

// addJob adds the problems of the spec and the stored status.
func (t *findingsText) addJob(f *Findings) {
	for _, v := range f.Violations {
		t.add("InvalidRuleNames %s", v)
	}
	if f.UnknownMode != "" {
		t.add("UnknownMode %s", f.UnknownMode)
	}
	if f.BadRetryIndexes != "" {
		t.add("BadRetryIndexes %s", f.BadRetryIndexes)
	}
	if f.UnsupportedScheduling != "" {
		t.add("UnsupportedScheduling %s", f.UnsupportedScheduling)
	}
	if f.RestartsNotPerIndex {
		t.add("RestartsNotPerIndex")
	}
	if f.DamagedIndexes > 0 {
		t.add("DamagedIndexes %d", f.DamagedIndexes)
	}
	if k := f.CountKept; k != nil {
		t.add("CountKept succeeded=%d completed=%d", k.Succeeded, k.Completed)
	}
}

// addPods adds the findings about finished pods.
func (t *findingsText) addPods(f *Findings) {
	t.addFailed("Verdict", f.Verdicts)
	for _, u := range f.Unreported {
		t.add("Unreported pod=%s until=%s", u.Pod.Name, t.until(u.Until))
	}
	for _, n := range f.NotCounted {
		t.add("NotCounted pod=%s (%s)", n.Pod.Name, n.Why)
	}
	t.addFailed("IndexFailure", f.IndexFailures)
	t.addFailed("RecordedFailed", f.RecordedFailed)
	if f.Unrecorded > 0 {
		t.add("Unrecorded %d", f.Unrecorded)
	}
}

// addEnd adds the findings about how far the Job is from its end.
func (t *findingsText) addEnd(f *Findings) {
	if b := f.BackoffLimit; b != nil {
		restarts := ""
		if b.OnFailure {
			restarts = fmt.Sprintf(" restarts=%d", b.Restarts)
		}
		t.add("BackoffLimit failures=%d%s limit=%d", b.Failures, restarts, b.Limit)
	}
	if !f.Deadline.IsZero() {
		t.add("Deadline until=%s", t.until(f.Deadline))
	}
	if m := f.MaxFailedIndexes; m != nil {
		t.add("MaxFailedIndexes failed=%d limit=%d", m.Failed, m.Limit)
	}
	for i, r := range f.SuccessRules {
		t.add("SuccessRule rule=%d have=%d need=%d met=%t outOfReach=%t", i, r.Have, r.Need, r.Met, r.OutOfReach || r.Inert)
	}
	if o := f.Outcome; o != nil {
		t.add("Outcome %s reason=%s (%s)", o.Condition, o.Reason, o.Message)
	}
	if w := f.WaitFinish; w != nil {
		t.add("WaitFinish active=%d terminating=%d ended=%d uncounted=%d", w.Active, w.Terminating, w.Ended, w.Uncounted)
	}
	if m := f.TooManySucceeded; m != nil {
		t.add("TooManySucceeded succeeded=%d completions=%d", m.Succeeded, m.Completions)
	}
}

// addCreation adds the reasons why pods are removed, and why others are not created yet.
func (t *findingsText) addCreation(f *Findings) {
	t.addPodNames("Untracked", f.Untracked)
	t.addPodNames("Misfit", f.Misfits)
	t.addPodNames("Excess", f.Excess)
	if f.WaitTerminating > 0 {
		t.add("WaitTerminating %d", f.WaitTerminating)
	}
	if b := f.Backoff; b != nil {
		t.add("Backoff failures=%d until=%s", b.Failures, t.until(b.Until))
	}
	for _, w := range f.AwaitReplacement {
		t.add("AwaitsReplacement pod=%s failures=%d until=%s%s", w.Pod.Name, w.Failures, t.until(w.Until), matchText(w.Match))
	}
	if f.RetryHeld {
		t.add("RetryHeld")
	}
}

func (t *findingsText) addPodNames(kind string, pods []*Pod) {
	for _, p := range pods {
		t.add("%s pod=%s", kind, p.Name)
	}
}

func (t *findingsText) addFailed(kind string, pods []FailedPod) {
	for _, p := range pods {
		t.add("%s pod=%s%s", kind, p.Pod.Name, matchText(p.Match))
	}
}

// matchText formats a verdict with its evidence and the rules that did not match.
func matchText(m *failurepolicy.Match) string {
	if m == nil {
		return ""
	}
	var b strings.Builder
	if m.Matched() {
		fmt.Fprintf(&b, " rule %d %s", m.Rule, m.Action)
	}
	if m.Container != "" {
		fmt.Fprintf(&b, " (container %s, exit code %d)", m.Container, m.ExitCode)
	}
	if m.Condition != "" {
		fmt.Fprintf(&b, " (condition %s)", m.Condition)
	}
	for _, p := range m.Passed {
		fmt.Fprintf(&b, "; rule %d passed over: %v", p.Rule, p.Why)
	}
	return b.String()
}
