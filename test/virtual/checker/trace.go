package checker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// trace is a readable log of the events in a World.
type trace struct {
	of       *sim.World
	Untraced bool
	lines    []string
}

// Tracef adds a line to the trace.
func (t *trace) Tracef(format string, args ...any) {
	if !t.Untraced {
		t.lines = append(t.lines, fmt.Sprintf("%9.3fs  ", t.of.Elapsed().Seconds())+fmt.Sprintf(format, args...))
	}
}

func (t *trace) traceCommit(c sim.Commit) {
	if !t.Untraced {
		t.Tracef("%s%s", CommitText(c), signature(t.of, c.By))
	}
}

// signature names the process that made a write, if there are several.
func signature(w *sim.World, process int) string {
	if len(w.Processes()) < 2 || process == 0 {
		return ""
	}
	return fmt.Sprintf(" (process %d)", process)
}

// Trace returns the events since the last call, one line each.
func (w *World) Trace() string {
	t := &w.Checker.trace
	out := strings.Join(t.lines, "\n")
	t.lines = nil
	if out != "" {
		out += "\n"
	}
	return out
}

// PutBefore inserts lines before the trace.
func (t *trace) PutBefore(text string) {
	if !t.Untraced && text != "" {
		t.lines = slices.Concat(strings.Split(strings.TrimSuffix(text, "\n"), "\n"), t.lines)
	}
}

// CommitText describes a commit.
func CommitText(c sim.Commit) string {
	switch {
	case c.Verb == "status":
		return fmt.Sprintf("status %s: %s", c.NewJob.Name, statusChange(&c.OldJob.Status, &c.NewJob.Status))
	case c.NewJob != nil:
		return fmt.Sprintf("%s job %s%s", c.Verb, c.NewJob.Name, finalizersText(c.NewJob))
	case c.OldJob != nil:
		return fmt.Sprintf("%s job %s", c.Verb, c.OldJob.Name)
	case c.NewPod != nil:
		return fmt.Sprintf("%s pod %s", c.Verb, c.NewPod.Name)
	}
	return fmt.Sprintf("%s pod %s", c.Verb, c.OldPod.Name)
}

// finalizersText describes the finalizers that a deleted Job waits for.
func finalizersText(job *batchv1.Job) string {
	if job.DeletionTimestamp == nil {
		return ""
	}
	return ", which waits for " + strings.Join(job.Finalizers, ", ")
}

func statusChange(old, next *batchv1.JobStatus) string {
	var out []string
	add := func(name string, a, b any) {
		if before, after := fmt.Sprint(a), fmt.Sprint(b); before != after {
			out = append(out, fmt.Sprintf("%s %s→%s", name, before, after))
		}
	}
	add("active", old.Active, next.Active)
	add("ready", ptr.Deref(old.Ready, 0), ptr.Deref(next.Ready, 0))
	add("terminating", ptr.Deref(old.Terminating, 0), ptr.Deref(next.Terminating, 0))
	add("succeeded", old.Succeeded, next.Succeeded)
	add("failed", old.Failed, next.Failed)
	add("completedIndexes", strconv.Quote(old.CompletedIndexes), strconv.Quote(next.CompletedIndexes))
	add("failedIndexes", QuoteOrNone(old.FailedIndexes), QuoteOrNone(next.FailedIndexes))
	add("uncounted", uncountedText(old), uncountedText(next))
	add("startTime", timeText(old.StartTime), timeText(next.StartTime))
	for _, condition := range next.Conditions {
		if !slices.Contains(old.Conditions, condition) {
			out = append(out, fmt.Sprintf("%s=%s (%s)", condition.Type, condition.Status, condition.Reason))
		}
	}
	if len(out) == 0 {
		return "first"
	}
	return strings.Join(out, ", ")
}

// QuoteOrNone quotes an optional text; nil is "none".
func QuoteOrNone(text *string) string {
	if text == nil {
		return "none"
	}
	return strconv.Quote(*text)
}

func timeText(t *metav1.Time) string {
	if t == nil {
		return "none"
	}
	return t.UTC().Format("15:04:05")
}

func uncountedText(s *batchv1.JobStatus) string {
	const few = 6
	succeeded, failed := history.UncountedSucceeded(s), history.UncountedFailed(s)
	if len(succeeded)+len(failed) > few {
		return fmt.Sprintf("{%d succeeded, %d failed}", len(succeeded), len(failed))
	}
	return fmt.Sprintf("{succeeded %v, failed %v}", succeeded, failed)
}
