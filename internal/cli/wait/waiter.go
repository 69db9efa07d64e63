package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// errOver ends the watch when the waiter's result is final.
var errOver = errors.New("the outcome is certain")

// timeoutLines is the maximum number of Jobs that a timeout lists.
const timeoutLines = 10

// waiter follows Jobs until the outcome is certain.
type waiter struct {
	options  *Options
	progress *follow.Progress
	link     *feed.Link
	verdict  func(job *unstructured.Unstructured) *explain.Verdict
	// giveUpStalled ends the wait for --fail-if-stalled.
	giveUpStalled func()

	jobs   []*waitedJob // by namespace and name
	byKey  map[types.NamespacedName]*waitedJob
	result error                        // set before errOver is returned
	stalls map[types.UID]*explain.Stall // set before giveUpStalled is called
}

// waitedJob is a Job that existed at the start, as last seen.
type waitedJob struct {
	job *batchv1.Job
	end reconcile.Outcome
	why string // the reason for its failure
	// cause is the cause of its failure, nil if unknown.
	cause *explain.DecidingCause
}

// condition returns the condition that ended the Job, nil if it has not ended.
func (j *waitedJob) condition() *batchv1.JobCondition {
	if j.end != reconcile.OutcomeComplete && j.end != reconcile.OutcomeFailed {
		return nil
	}
	return reconcile.TrueCondition(j.job, batchv1.JobConditionType(j.end))
}

func (w *waiter) run(ctx context.Context) error {
	o := w.options
	jobs := &feed.Jobs{Watch: cmdutil.Watch(w.link, w.progress), Set: o.set, OnUpdates: w.take}
	first, err := jobs.First(ctx)
	if err != nil {
		return err
	}
	if err := w.checkPresent(jobs.Set, first); err != nil {
		return err
	}
	var names []string
	w.byKey = map[types.NamespacedName]*waitedJob{}
	for _, object := range first {
		job, err := cmdutil.ToJob(object)
		if err != nil {
			return err
		}
		waited := &waitedJob{job: job}
		w.jobs = append(w.jobs, waited)
		w.byKey[feed.KeyOf(object)] = waited
		names = append(names, job.Name)
	}
	if o.goal.kind == goalDelete {
		// Drop the selector: a Job that no longer has the labels is not deleted.
		jobs.Set.Selector, jobs.Set.Names = "", names
	}
	if o.explainer != nil {
		stalls := []*feed.Stalls{o.explainer.Stalls(o.set.Namespace, o.Timing())}
		defer w.progress.FollowStalls(ctx, stalls, w.tally().open, follow.StallLimit{
			After: o.stalled.After, Notes: true, Look: o.explainer.Stall,
			Exceeded: func(found map[types.UID]*explain.Stall) {
				w.stalls = found
				w.giveUpStalled()
			},
		})()
	}
	return jobs.Run(ctx)
}

// checkPresent returns an error if chosen Jobs do not exist, unless --for=delete is given.
func (w *waiter) checkPresent(set feed.JobSet, first []*unstructured.Unstructured) error {
	missing := set.Missing(first)
	switch {
	case w.options.goal.kind == goalDelete:
		return nil
	case len(missing) > 0:
		return errors.Join(missing...)
	case len(first) > 0:
		return nil
	}
	what := "there are no Jobs "
	if set.Selector != "" {
		what = fmt.Sprintf("no Job matches -l %s ", set.Selector)
	}
	return cmdutil.NewUserError(cmdutil.KindNotFound, nil, what+set.Call("list", "").Where(), "")
}

// take applies updates, and prints how Jobs end.
func (w *waiter) take(updates []feed.Update) error {
	var running []*batchv1.Job
	for i := range updates {
		waited := w.byKey[updates[i].Key]
		if waited == nil || waited.end != "" || waited.job.UID != updates[i].UID {
			continue
		}
		if err := w.takeOne(waited, &updates[i]); err != nil {
			return err
		}
		if waited.end == "" {
			running = append(running, waited.job)
		}
	}
	t := w.tally()
	w.progress.Show(follow.News{Changed: running, Open: t.open, Ended: len(w.jobs) - len(t.open), Failed: len(t.failed), Total: len(w.jobs)})
	err := w.settle(t)
	if o := w.options; err == nil && o.limited && o.timeout == 0 {
		return w.timeoutError()
	}
	return err
}

func (w *waiter) takeOne(waited *waitedJob, u *feed.Update) error {
	if u.Job != nil {
		job, err := cmdutil.ToJob(u.Job)
		if err != nil {
			return err
		}
		waited.job = job
	}
	var err error
	if waited.end, err = w.options.goal.endOf(waited.job, u); err != nil || waited.end == "" {
		return err
	}
	if waited.end == reconcile.OutcomeFailed {
		waited.why, waited.cause = w.why(waited.job, u.Job)
	}
	if w.isLoss(waited.end) {
		return nil
	}
	return w.printEnd(waited)
}

// isLoss reports whether a Job was deleted although --for=delete was not given.
func (w *waiter) isLoss(end reconcile.Outcome) bool {
	return w.options.goal.kind != goalDelete && (end == feed.Deleted || end == feed.Replaced)
}

func (w *waiter) printEnd(waited *waitedJob) error {
	o := w.options
	if o.output.IsSet() && o.quiet {
		return nil
	}
	line := w.endLine(waited)
	if waited.why != "" {
		line += ": " + waited.why
	}
	out := o.Out
	if o.output.IsSet() {
		out = o.ErrOut
	}
	return w.progress.Around(func() error {
		_, err := fmt.Fprintln(out, sanitize.Line(line))
		return err
	})
}

func (w *waiter) endLine(waited *waitedJob) string {
	if waited.end == conditionMet {
		return w.label(waited.job) + " condition met" // as kubectl wait prints it
	}
	line := fmt.Sprintf("%s %s", w.label(waited.job), waited.end)
	took := jobprinter.Row{Job: waited.job, Now: w.options.Now()}.Duration()
	if waited.end == reconcile.OutcomeComplete && took != jobprinter.None {
		line += " in " + took
	}
	return line
}

// why returns the reason for the failure as one line, and its cause, nil if unknown.
func (w *waiter) why(job *batchv1.Job, object *unstructured.Unstructured) (string, *explain.DecidingCause) {
	if verdict := w.verdict(object); verdict != nil {
		return verdict.WithReason(), verdict.Cause
	}
	failed := reconcile.TrueCondition(job, batchv1.JobFailed)
	return wording.Join(": ", jobprinter.OrNone(failed.Reason), failed.Message), nil
}

// tally holds the labels of the Jobs by outcome, and the unfinished Jobs.
type tally struct {
	lost, complete, failed []string
	open                   []*batchv1.Job
}

func (w *waiter) tally() tally {
	var t tally
	for _, waited := range w.jobs {
		label := w.label(waited.job)
		switch {
		case waited.end == "":
			t.open = append(t.open, waited.job)
		case waited.end == reconcile.OutcomeComplete:
			t.complete = append(t.complete, label)
		case waited.end == reconcile.OutcomeFailed:
			t.failed = append(t.failed, label)
		case w.isLoss(waited.end):
			t.lost = append(t.lost, label+w.lossOf(waited.end))
		}
	}
	return t
}

func (w *waiter) lossOf(end reconcile.Outcome) string {
	before := " before it " + w.options.goal.past
	switch {
	case end == feed.Replaced:
		return " was deleted" + before + ", and another was created"
	case w.options.Selector != "":
		return " was deleted or its labels were changed" + before
	}
	return " was deleted" + before
}

func (w *waiter) label(job *batchv1.Job) string { return w.options.label(job.Namespace, job.Name) }

// settle sets the result and returns errOver when no update can change it anymore.
func (w *waiter) settle(t tally) error {
	goal := w.options.goal
	switch {
	case len(t.lost) > 0:
		w.result = cmdutil.NewUserError(cmdutil.KindNotFound, nil, strings.Join(t.lost, "; "), "")
	case (goal.kind == goalFailed || goal.isMet != nil) && len(t.complete) > 0:
		w.result = cmdutil.NewUserError(cmdutil.KindOther, nil, "cannot "+goal.verb+" because it is already complete: "+strings.Join(t.complete, ", "), "")
	case (goal.kind == goalComplete || goal.isMet != nil) && len(t.failed) > 0:
		w.giveUp(t)
		w.result = cmdutil.JobFailed(t.failed)
	case len(t.open) > 0:
		return nil
	case goal.kind == goalFinished && len(t.failed) > 0:
		w.result = cmdutil.JobFailed(t.failed)
	}
	return errOver
}

// giveUp prints that the command no longer waits for the other Jobs.
func (w *waiter) giveUp(t tally) {
	if n := len(t.open); n > 0 {
		fmt.Fprintf(w.progress, "Not waiting for %s: %s has failed, so not all can %s.\n", wording.Count(n, "more"), sanitize.Line(t.failed[0]), w.options.goal.verb)
	}
}

// timeoutError returns an error with a line for each unfinished Job.
func (w *waiter) timeoutError() error {
	what := fmt.Sprintf("timed out after %s", w.options.timeout)
	if w.options.timeout == 0 {
		what = w.options.goal.pending
	}
	lineOf := func(text string) error {
		return cmdutil.NewUserError(cmdutil.KindTimeout, errWaitTimeout, what+": "+text, "")
	}
	open := w.tally().open
	if len(open) == 0 {
		return lineOf("no answer from the API server")
	}
	var lines []error
	for _, job := range open[:min(len(open), timeoutLines)] {
		lines = append(lines, lineOf(w.label(job)+" "+w.progress.Describe(job)))
	}
	if more := len(open) - timeoutLines; more > 0 {
		lines = append(lines, lineOf(wording.Count(more, "more")))
	}
	return errors.Join(lines...)
}

// stalledError returns an error with a line for each unfinished Job.
func (w *waiter) stalledError() error {
	var lines []error
	for _, job := range w.tally().open {
		why := cmdutil.WhyCommand(w.options.kube, job.Namespace, job.Name)
		lines = append(lines, follow.StalledError(w.label(job), w.options.stalled.After, w.stalls[job.UID], why))
	}
	return errors.Join(follow.FirstErrors(lines, timeoutLines)...)
}
