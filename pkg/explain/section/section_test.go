package section

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(d)} }

func textOf(s Section) string {
	var b strings.Builder
	for _, l := range s.Lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// A step that is the end of a timer is named once; a step without a time is labeled "then".
func TestNextNamesEachStepOnce(t *testing.T) {
	r := &explain.Report{
		Waits: []explain.Wait{{Kind: explain.WaitBackoff, Until: *after(5 * time.Second), Text: "a new pod is created"}},
		Next: []explain.Step{
			{Kind: explain.StepBackoff, At: after(5 * time.Second), Text: "the back-off ends"},
			{Kind: explain.StepEnd, Text: "the condition Failed follows"},
		},
	}
	f := &Frame{Width: 60, Now: now, Location: time.UTC, Glyphs: layout.NewGlyphs(false)}
	assert.Equal(t, textOf(Next(f, r)), "in 5s  A new pod is created\nthen   The condition Failed follows\n")
	f.Printed = true
	if got, want := textOf(Next(f, r)), "in 5s, at 12:00:05  A new pod is created\n"; !strings.HasPrefix(got, want) {
		t.Errorf("printed:\n%s\nwant\n%s", got, want)
	}
	f.Absolute = true
	if got, want := textOf(Next(f, r)), "at 12:00:05  A new pod is created\n"; !strings.HasPrefix(got, want) {
		t.Errorf("absolute:\n%s\nwant\n%s", got, want)
	}
}

// Problems that block a Job come first.
func TestProblems(t *testing.T) {
	r := &explain.Report{
		Problems: []explain.Problem{
			{Kind: explain.ProblemCrashLoop, Text: "a container restarts", Count: 3, Pods: []string{"a", "b", "c"}, Since: after(-time.Minute)},
			{Kind: explain.ProblemCreationRefused, Text: "pods are refused", Blocks: true, Details: []string{"one", "two\nthree"}},
		},
	}
	f := &Frame{Width: 80, Now: now, Location: time.UTC, Glyphs: layout.NewGlyphs(true)}
	want := `x Pods are refused (blocks)
  | one
  | two
  | three
! A container restarts (3 pods: a, b, ..., for 1m)
`
	assert.Equal(t, textOf(Problems(f, r)), want)
}

// Rules have labels with index and name, as far as these are known.
func TestRuleLabel(t *testing.T) {
	one := int32(1)
	for want, c := range map[string]struct {
		index *int32
		name  string
	}{"": {}, "rule 1": {index: &one}, `rule "OOM"`: {name: "OOM"}, `rule 1 "OOM"`: {&one, "OOM"}} {
		assert.Equal(t, RuleLabel(c.index, c.name), want)
	}
}

// An unknown count is not shown as 0.
// Requirements: CLI-04
func TestMatchesMayBeUnknown(t *testing.T) {
	policy := &explain.FailurePolicy{Rules: []explain.FailureRule{{Action: "FailJob", Requirement: "main exits with 42"}}}
	f := &Frame{Width: 80, Glyphs: layout.NewGlyphs(false)}
	assert.Equal(t, strings.Count(textOf(FailurePolicy(f, policy, false)), " - "), 2)
}

// While the pods exist, their own status shows that they were stopped, and later only an event does.
func TestStoppedPodsOfADeadlineAreToldTheSameWithAndWithoutPods(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]explain.Stop{"pods exist": {Consequence: true}, "pods are gone": {Consequence: true, Stopped: explain.StoppedAtDeadline}} {
		r := &explain.Report{Causes: []explain.Cause{{Count: 2, Stop: stop}}}
		r.Verdict.EndedBy, r.Verdict.Outcome = explain.EndedByDeadline, reconcile.OutcomeFailed
		assert.Equal(t, StoppedNote(r), "2 pods were stopped when activeDeadlineSeconds was over", name)
	}
}
