package explaintest

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// InputOf returns an input that consists of a Job and all its pods.
func InputOf(job *batchv1.Job, pods ...*input.Pod) input.Input {
	return input.Input{Now: Noon, OurName: recorded.OurName, Job: job, PodsRead: true, EventsRead: true, Pods: pods}
}

// Report returns the whole report.
func Report(f input.Input) explain.Report { return analysis.Explain(f, explain.Options{}) }

// Problem returns the problem of a kind, and fails without one.
func Problem(t *testing.T, r explain.Report, kind explain.ProblemKind) explain.Problem {
	t.Helper()
	at := placeOf(r, kind)
	if at < 0 {
		t.Fatalf("no problem %s in %+v", kind, r.Problems)
	}
	return r.Problems[at]
}

// HasProblem reports whether there is a problem of a kind.
func HasProblem(r explain.Report, kind explain.ProblemKind) bool { return placeOf(r, kind) >= 0 }

func placeOf(r explain.Report, kind explain.ProblemKind) int {
	return slices.IndexFunc(r.Problems, func(p explain.Problem) bool { return p.Kind == kind })
}

// FailedOnce returns a Job that failed by its first failed pod.
func FailedOnce(pods ...*input.Pod) input.Input {
	return InputOf(JobWith(func(j *batchv1.Job) {
		j.Spec.BackoffLimit, j.Status.Failed = ptr.To[int32](0), 1
		FailJob(j, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	}), pods...)
}

// WantFirst explains the Job, and fails unless the verdict contains this text.
func WantFirst(t *testing.T, f input.Input, want string) explain.Report {
	t.Helper()
	r := Report(f)
	assert.Contains(t, Verdict(r), want)
	return r
}

// Listed returns the part of the input that a list reads: active pods, and warnings about the Job and about pods that start slowly.
func Listed(f input.Input) input.Input {
	l := input.Input{Listed: true, Now: f.Now, OurName: f.OurName, Job: f.Job, RuleNames: f.RuleNames}
	for i := range f.Pods {
		if p := f.Pods[i]; p.Phase == corev1.PodPending || p.IsActive() {
			l.Pods = append(l.Pods, f.Pods[i])
		}
	}
	slow := map[string]bool{}
	for _, p := range l.Pods {
		slow[p.Name] = p.Phase == corev1.PodPending && p.Node != "" && f.Now.Sub(p.CreatedAt) >= 15*time.Second
	}
	for i := range f.Events {
		if e := &f.Events[i]; (e.Pod == "" || slow[e.Pod]) && e.Warning() {
			l.Events = append(l.Events, *e)
		}
	}
	return l
}

// sentences returns the verdict, the problems, the next steps, the advice with its commands, and the evidence.
func sentences(r explain.Report) string {
	all := []string{Verdict(r)}
	for _, p := range r.Problems {
		all = append(all, p.Text)
	}
	for _, s := range r.Next {
		all = append(all, s.Text)
	}
	for _, a := range r.Advice {
		all = append(all, a.Text, a.Command)
	}
	for _, e := range r.Evidence {
		all = append(all, e.Text)
	}
	return strings.Join(all, "\n")
}

// WantText fails unless the sentences of the report contain all of these texts.
func WantText(t *testing.T, r explain.Report, want ...string) {
	t.Helper()
	for _, w := range want {
		assert.Contains(t, sentences(r), w)
	}
}

// WantWithout fails if the sentences of the report contain one of these texts.
func WantWithout(t *testing.T, r explain.Report, unwanted ...string) {
	t.Helper()
	for _, u := range unwanted {
		assert.NotContains(t, sentences(r), u)
	}
}

// Verdict returns the clauses of the verdict as one sentence, however long it is.
func Verdict(r explain.Report) string { return strings.Join(r.Verdict.Clauses, "; ") + "." }

// HasAdvice reports whether one piece of advice has all of these fragments in its text and its command.
func HasAdvice(r explain.Report, fragments ...string) bool {
	for _, a := range r.Advice {
		text, all := a.Text+"\n"+a.Command, true
		for _, f := range fragments {
			all = all && strings.Contains(text, f)
		}
		if all {
			return true
		}
	}
	return false
}

// WantVerdict compares the whole verdict.
func WantVerdict(t *testing.T, r explain.Report, want string) {
	t.Helper()
	assert.Equal(t, Verdict(r), want, "verdict")
}
