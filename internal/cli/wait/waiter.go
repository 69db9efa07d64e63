package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// waiter follows the Jobs that existed at the start until the outcome is certain.
type waiter struct {
	*follow.Set
	options *Options
	jobs    []*follow.Job // by namespace and name
}

func (w *waiter) run(ctx context.Context) error {
	o := w.options
	jobs := &feed.Jobs{Watch: w.NewWatch(), Set: o.set}
	first, err := jobs.First(ctx)
	if err != nil {
		return w.Cause(ctx, err)
	}
	if err := w.checkPresent(ctx, first); err != nil {
		return err
	}
	var names []string
	for _, object := range first {
		job, err := follow.NewJob(object)
		if err != nil {
			return err
		}
		w.jobs, names = append(w.jobs, job), append(names, job.Name)
	}
	w.Add(w.jobs...)
	if o.goal.kind == goalDelete {
		// Drop the selector: a Job that no longer has the labels is not deleted.
		jobs.Set.Selector, jobs.Set.Names = "", names
	}
	defer w.FollowStalls(ctx, o.set.Namespace)()
	err = w.Follow(ctx, jobs, w.jobs...)
	if o.output.IsSet() {
		err = errors.Join(err, w.writeResult(err))
	}
	return err
}

// checkPresent returns an error if chosen Jobs do not exist, unless --for=delete is given.
func (w *waiter) checkPresent(ctx context.Context, first []*unstructured.Unstructured) error {
	set := w.options.set
	missing := set.Missing(first)
	switch {
	case w.options.goal.kind == goalDelete:
		return nil
	case len(missing) > 0:
		return errors.Join(w.options.explainer.ExplainMissing(ctx, missing)...)
	case len(first) > 0:
		return nil
	}
	what := "there are no Jobs "
	if set.Selector != "" {
		what = fmt.Sprintf("no Job matches -l %s ", set.Selector)
	}
	return cmdutil.NewUserError(cmdutil.KindNotFound, nil, what+set.Call("list", "").Where(), "")
}

// onUpdate prints how Jobs ended, and decides whether any update can still change the outcome.
func (w *waiter) onUpdate(ctx context.Context, ended []*follow.Job) (over bool, err error) {
	o := w.options
	for _, job := range ended {
		if job.End == reconcile.OutcomeFailed {
			if report, err := w.Report(ctx, job); err == nil {
				job.Verdict = report.Verdict
			}
		}
		if err := w.printEnd(job); err != nil {
			return false, err
		}
	}
	if over, err = w.outcome(); !over && o.limited && o.timeout == 0 {
		return true, w.Unfinished(o.goal.pending)
	}
	return over, err
}

// printEnd prints how a Job ended; the error at the end names lost Jobs.
func (w *waiter) printEnd(job *follow.Job) error {
	o := w.options
	if job.IsLost() && o.goal.kind != goalDelete || o.output.IsSet() && o.quiet {
		return nil
	}
	line, out := w.EndLine(job), o.Out
	if job.End == conditionMet {
		line = w.Label(job.Namespace, job.Name) + " condition met" // as kubectl wait prints it
	}
	if o.output.IsSet() {
		out = o.ErrOut
	}
	return w.Around(func() error {
		_, err := fmt.Fprintln(out, sanitize.Line(line))
		return err
	})
}

// outcome returns the result if no update can change it anymore.
func (w *waiter) outcome() (over bool, result error) {
	goal, ends := w.options.goal, w.Ends()
	complete, failed := w.Labels(ends, reconcile.OutcomeComplete), w.Labels(ends, reconcile.OutcomeFailed)
	open, lost := len(w.Open()), w.Lost(ends)
	switch {
	case goal.kind == goalDelete:
		return open == 0, nil
	case lost != nil:
		return true, lost
	case (goal.kind == goalFailed || goal.isMet != nil) && len(complete) > 0:
		what := fmt.Sprintf("cannot %s because it is already complete: %s", goal.verb, strings.Join(complete, ", "))
		return true, cmdutil.NewUserError(cmdutil.KindOther, nil, what, "")
	case (goal.kind == goalComplete || goal.isMet != nil) && len(failed) > 0:
		if open > 0 {
			fmt.Fprintf(w, "Not waiting for %s: %s has failed, so not all can %s.\n",
				wording.Count(open, "more"), sanitize.Line(failed[0]), goal.verb)
		}
		return true, cmdutil.JobFailed(failed)
	case open == 0 && goal.kind == goalFinished && len(failed) > 0:
		return true, cmdutil.JobFailed(failed)
	}
	return open == 0, nil
}
