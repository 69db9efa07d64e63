package text

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 6.4: the lines for the interactive view are the same as the printed explanation.
func TestLinesSayWhatIsPrinted(t *testing.T) {
	for _, o := range []Options{{Width: 80}, {Width: 60, ASCII: true}, {Width: 120, Full: true}} {
		r := explain.Report{
			Job:     explain.Job{Namespace: "ns", Name: "hostile\x1b[2J", CompletionMode: "NonIndexed"},
			Verdict: explain.Verdict{Status: "Failed", Outcome: reconcile.OutcomeFailed, Sentence: "It failed, because of \r\u202esomething long enough to be wrapped on a narrow terminal."},
			Causes:  []explain.Cause{{Text: "Container main exited", Count: 3, Pods: []string{"a", "b"}}},
			Advice:  []explain.Advice{{Text: "Look at it", Command: "kubectl logs a"}},
		}
		var printed bytes.Buffer
		assert.NoError(t, Explanation(&printed, r, o))
		var drawn strings.Builder
		for _, l := range ExplanationLines(r, o) {
			drawn.WriteString(strings.TrimRight(l.String(), " ") + "\n")
		}
		assert.Equal(t, drawn.String(), printed.String(), o)
		if strings.ContainsAny(drawn.String(), "\x1b\r\u202e") {
			t.Errorf("not safe: %q", drawn.String())
		}
	}
}

// Requirements: CLI-40. The message of a container is often the end of its log.
func TestMessageThatTheLogHasIsNotRepeated(t *testing.T) {
	r := story("stalled-by-quota")
	r.Problems[0] = explain.Problem{Kind: explain.ProblemCrashLoop, Text: "container main exited with code 1", Details: []string{"no port", "}"}}
	for log, want := range map[string]bool{"no port": false, "}": true, "": true} {
		r.Evidence = nil
		if log != "" {
			r.Evidence = []explain.Evidence{{Kind: explain.EvidenceLogs, Lines: []string{log}}}
		}
		var printed bytes.Buffer
		assert.NoError(t, Short(&printed, r, Options{Width: 80}))
		assert.Equalf(t, strings.Contains(printed.String(), "Says"), want, "log %q:\n%s", log, printed.String())
	}
}

// If the status lags behind the pods, both numbers are shown; the failures are the same as in the verdict.
// Requirements: CLI-04
func TestCountsNameTheirBasis(t *testing.T) {
	n := func(n int32) *int32 { return &n }
	for want, change := range map[string]func(*explain.Report){
		"Counts: status says 5 active, 0 of them still run, 0 of 10 succeeded, 5 failed (0 in the status)\n  5 pods exist: 5 failed\n": func(r *explain.Report) {
			r.Counts.Active, r.Counts.Ready, r.Counts.ActivePods, r.Counts.ReadyPods = 5, n(5), n(0), n(0)
			r.Counts.Pods, r.Counts.FailedPods, r.Counts.Finalizers = n(5), n(5), n(5)
			r.Causes = []explain.Cause{{Count: 5, Text: "Container main exited with code 1"}}
		},
		"  9 pods exist: 4 succeeded, 2 failed\n": func(r *explain.Report) {
			r.Counts.Pods, r.Counts.FailedPods, r.Counts.ActivePods, r.Counts.TerminatingPods = n(9), n(2), n(2), n(1)
		},
		"  4 pods exist: 1 succeeded, 2 failed, 1 stopped by the Job\n": func(r *explain.Report) {
			r.Counts.Pods, r.Counts.FailedPods, r.Counts.ActivePods, r.Counts.TerminatingPods = n(4), n(3), n(0), n(0)
			r.Counts.StoppedPods = 1
		},
		"Counts: 2 active (1 ready), 1 terminating, 0 of 10 succeeded, 0 failed\n  3 pods exist\n": func(r *explain.Report) {
			r.Counts.Active, r.Counts.ActivePods, r.Counts.ReadyPods, r.Counts.TerminatingPods = 1, n(2), n(1), n(1)
			r.Counts.Pods, r.Counts.FailedPods, r.Counts.Finalizers = n(3), n(0), n(3)
		},
		"  3 pods exist: 3 held by the tracking finalizer\n": func(r *explain.Report) {
			r.Counts.Pods, r.Counts.Finalizers = n(3), n(3)
			r.Problems = []explain.Problem{{Kind: explain.ProblemFinalizerStuck, Count: 3, Text: "stuck"}}
		},
	} {
		r := explain.Report{
			Job: explain.Job{Namespace: "ml", Name: "train", Started: at(0), Completions: n(10)}, ObservedAt: *at(60),
			Verdict: explain.Verdict{Status: "Running", Outcome: reconcile.OutcomeOpen}, Counts: explain.Counts{Ready: n(0), Terminating: n(0)},
		}
		change(&r)
		got := render(t, func(w io.Writer) error { return Explanation(w, r, Options{Full: true}) })
		assert.Contains(t, got, want)
	}
}

// Requirements: CLI-42. Commands leave out the namespace that kubectl uses anyway, wherever they are from.
func TestCommandsNameOtherNamespacesOnly(t *testing.T) {
	r := story("failed-by-rule")
	r.Gaps = []input.Gap{{What: "events", Text: "events could not be read", Command: "kubectl auth can-i list events -n failure-policy-named"}}
	r.Advice = append(r.Advice, explain.Advice{Text: "fix the rule names", Command: "kubectl get job failure-policy-named -n failure-policy-named -o yaml | kubectl batchjob lint -f -"})
	for _, draw := range []func(io.Writer, explain.Report, Options) error{Short, Explanation, Summary} {
		for namespace, want := range map[string]bool{"": true, "other": true, "failure-policy-named": false} {
			got := render(t, func(w io.Writer) error { return draw(w, r, Options{Namespace: namespace}) })
			if !strings.Contains(got, "kubectl") || strings.Contains(got, " -n failure-policy-named") != want {
				t.Errorf("current namespace %q:\n%s", namespace, got)
			}
		}
	}
}

// A Job that runs has run for longer than it has lacked a pod.
// Requirements: CLI-04
func TestARunningJobHasItsOwnDuration(t *testing.T) {
	r := story("running-with-policy")
	r.Verdict.State, r.Job.DurationSeconds = "is running", ptr.To[int64](49)
	r.Problems = append(r.Problems, explain.Problem{Kind: explain.ProblemTerminatingHolds, Text: "1 pod is terminating", Since: explain.TimeOf(r.ObservedAt.Add(-2 * time.Second))})
	r.Verdict.Problem = ptr.To(int32(len(r.Problems) - 1))
	assert.Contains(t, render(t, func(w io.Writer) error { return Short(w, r, Options{Width: 80}) }), "is running for 49s")
}
