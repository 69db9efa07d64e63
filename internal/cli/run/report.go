package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/junit"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// writeReport writes the report of --junit, if any. ended is why the Jobs are not followed to their end. The context
// limits the reading of logs, not the writing.
func (r *runner) writeReport(ctx context.Context, ended error) error {
	if r.report == nil {
		return nil
	}
	var suites []junit.Suite
	for _, t := range r.tasks {
		if a := t.last(); a.job.End == reconcile.OutcomeFailed {
			a.tails = tails{}
			if err := r.readTails(ctx, a, a.tails); err != nil {
				r.isRefusal(ctx, err)
			}
		}
		suites = append(suites, t.suite(r.whyUnfinished(t.last(), ended)))
	}
	report := r.report
	r.report = nil // Ctrl-C may come before the end and must not write it again.
	if err := report.Write(suites); err != nil {
		return cmdutil.NewUserError(cmdutil.KindOther, err, "cannot write --junit: "+err.Error(), "")
	}
	return nil
}

// suite returns the report on a Job and its retries; unfinished is why the last one has not ended, or no longer
// exists, else nil.
func (t *task) suite(unfinished *junit.Problem) junit.Suite {
	first, last := t.attempts[0], t.last()
	suite := junit.Suite{Name: first.job.Name, Timestamp: first.job.CreationTimestamp.UTC().Format("2006-01-02T15:04:05")}
	c := &cases{class: first.job.Name, unfinished: unfinished}
	for _, a := range t.attempts {
		if a.report != nil && a.report.Job.DurationSeconds != nil {
			suite.Time += junit.Seconds(time.Duration(min(*a.report.Job.DurationSeconds, math.MaxInt32)) * time.Second)
		}
		c.attempts = append(c.attempts, &outcome{
			attempt: a, pods: podsByIndex(a.report),
			runs: retry.Runs(a.job.Job), completed: retry.Completed(a.job.Job), failed: retry.Failed(a.job.Job),
		})
	}
	if jobspec.IsIndexed(&last.job.Spec) {
		suite.Cases = c.ofIndexes(ptr.Deref(last.job.Spec.Completions, 0))
	}
	failed := slices.ContainsFunc(suite.Cases, func(c junit.Case) bool { return c.Failure != nil || c.Error != nil })
	// The Job may have failed for a reason of its own.
	if len(suite.Cases) == 0 || last.job.End != reconcile.OutcomeComplete && !failed {
		job := c.of(noIndex)
		job.Time = suite.Time
		suite.Cases = append(suite.Cases, job)
	}
	return suite
}

// whyUnfinished returns why a Job has not ended, or no longer exists; nil if it has ended.
func (r *runner) whyUnfinished(a *attempt, ended error) *junit.Problem {
	switch {
	case a.job.IsLost():
		return &junit.Problem{Type: "Deleted", Message: "the Job was deleted before it finished"}
	case a.job.End != "":
		return nil
	case errors.Is(ended, follow.ErrTimeout):
		return &junit.Problem{Type: "Timeout", Message: "not finished when the time ran out"}
	case errors.Is(ended, follow.ErrStalled):
		p := &junit.Problem{Type: "Stalled", Message: "not finished when the Job had been stalled for too long"}
		if stall := r.set.Blockers[a.job.UID]; stall != nil {
			p.Message = cmdutil.OneLine("stalled: " + stall.Text)
		}
		return p
	}
	return &junit.Problem{Type: "Interrupted", Message: "not finished when the command was interrupted"}
}

// cases are the test cases of a Job and its retries.
type cases struct {
	class      string
	attempts   []*outcome
	unfinished *junit.Problem // see whyUnfinished
}

// outcome is the result of an attempt.
type outcome struct {
	*attempt
	pods                    map[int32]*explain.PodInfo // see podsByIndex
	runs, completed, failed indexset.Set
}

// noIndex is the key of the last failed pod of a Job without indexes.
const noIndex = int32(-1)

// podsByIndex returns the last pod of each index.
func podsByIndex(report *explain.Report) map[int32]*explain.PodInfo {
	last := map[int32]*explain.PodInfo{}
	if report == nil {
		return last
	}
	for i := range report.Pods {
		pod, index := &report.Pods[i], noIndex
		if pod.Index != nil {
			index = *pod.Index
		} else if !hasFailed(pod) {
			continue
		}
		if other := last[index]; other == nil || cmp.Or(cmp.Compare(other.Attempt, pod.Attempt), timeOf(other.Created).Compare(timeOf(pod.Created))) < 0 {
			last[index] = pod
		}
	}
	return last
}

// hasFailed reports whether a pod failed by itself.
func hasFailed(pod *explain.PodInfo) bool {
	return pod != nil && pod.Phase == string(corev1.PodFailed) && pod.Stopped == ""
}

// of returns the test case of an index, or of the Job: its last outcome, and earlier failures in the output.
func (c *cases) of(index int32) junit.Case {
	out := junit.Case{Class: c.class, Name: fmt.Sprintf("index %d", index)}
	if index == noIndex {
		out.Name = c.class
	}
	var before []string
	for i, a := range c.attempts {
		pod := a.pods[index]
		runs, completed, failed := a.state(index)
		if runs {
			out.Time = ran(pod)
		}
		switch {
		case !runs:
		case completed:
			out.Failure, out.Skipped, out.Output = nil, nil, strings.Join(before, "\n")
			return out
		case failed:
			out.Failure, out.Skipped = a.failure(index), nil
			before = append(before, fmt.Sprintf("Failed in %s: %s", a.job.Name, out.Failure.Message))
		case c.unfinished != nil && i == len(c.attempts)-1 && (pod != nil || index == noIndex):
			out.Failure, out.Skipped, out.Error = nil, nil, c.unfinished
		case out.Failure == nil:
			out.Skipped = &junit.Skipped{Message: c.whySkipped(a, pod)}
		}
	}
	return out
}

// state reports whether the attempt was to run an index, or the Job, and how that ended.
func (o *outcome) state(index int32) (runs, completed, failed bool) {
	if index == noIndex {
		return true, o.job.End == reconcile.OutcomeComplete, o.job.End == reconcile.OutcomeFailed
	}
	failed = o.failed.Contains(index) || o.job.End != "" && hasFailed(o.pods[index])
	return o.runs.Contains(index), o.completed.Contains(index), failed
}

// failure returns why an index, or the Job, has failed.
func (o *outcome) failure(index int32) *junit.Problem {
	p := &junit.Problem{Type: "Failed", Message: "failed; its pods are gone"}
	if pod := o.pods[index]; pod != nil {
		p.Message = cmdutil.OneLine(pod.Cause)
		if f := pod.Failure; f != nil {
			p.Type = cmp.Or(f.Reason, f.PodReason, f.ConditionReason, string(f.Condition), p.Type)
		}
		p.Text = strings.Join(append([]string{fmt.Sprintf("Pod %s: %s", pod.Name, p.Message)}, o.tails[pod.Name]...), "\n")
	}
	if index == noIndex && o.report != nil {
		p.Type, p.Message = cmp.Or(o.report.Verdict.Reason, p.Type), cmdutil.OneLine(o.report.Verdict.Why)
	}
	return p
}

// whySkipped returns why an index has neither completed nor failed.
func (c *cases) whySkipped(a *outcome, pod *explain.PodInfo) string {
	what := "did not run"
	if pod != nil {
		what = "was stopped"
	}
	switch {
	case a.job.End == reconcile.OutcomeComplete:
		return what + ": the Job is complete without it"
	case a.job.End == reconcile.OutcomeFailed && a.report != nil:
		return what + ": the Job failed: " + cmdutil.OneLine(a.report.Verdict.Why)
	case c.unfinished != nil:
		return what + ": " + c.unfinished.Message
	}
	return what
}

// ran returns how long a pod ran, 0 if that is unknown.
func ran(pod *explain.PodInfo) junit.Seconds {
	if pod == nil || pod.Started == nil || pod.Ended == nil {
		return 0
	}
	return junit.Seconds(pod.Ended.Sub(pod.Started.Time))
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
