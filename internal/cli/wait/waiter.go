package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// errOver ends the watch: the waiter's result is certain.
var errOver = errors.New("the outcome is certain")

// timeoutLines is how many Jobs a timeout lists.
const timeoutLines = 10

// waiter follows Jobs until the outcome is certain.
type waiter struct {
	options  *Options
	progress *waitProgress
	link     *feed.Link
	verdict  func(job *unstructured.Unstructured) []string

	jobs   []*waitedJob // by namespace and name
	byKey  map[snapshot.JobKey]*waitedJob
	result error // once errOver was returned
}

// waitedJob is a Job that was there at the start, as it was seen last.
type waitedJob struct {
	job *batchv1.Job
	end feed.End
}

func (w *waiter) run(ctx context.Context) error {
	o := w.options
	jobs := &feed.Jobs{Watch: cmdutil.Watch(w.link, w.progress), Set: o.set, Each: w.take}
	first, err := jobs.First(ctx)
	if err != nil {
		return err
	}
	if missing := jobs.Set.Missing(first); len(missing) > 0 {
		return errors.Join(missing...)
	}
	if len(first) == 0 {
		return cmdutil.NewUserError(cmdutil.KindNotFound, nil, fmt.Sprintf("no Job matches -l %s %s", o.Selector, o.set.Call("list", "").Where()), "")
	}
	w.byKey = map[snapshot.JobKey]*waitedJob{}
	for _, object := range first {
		job, err := cmdutil.ToJob(object)
		if err != nil {
			return err
		}
		waited := &waitedJob{job: job}
		w.jobs = append(w.jobs, waited)
		w.byKey[feed.KeyOf(object)] = waited
	}
	return jobs.Run(ctx)
}

// take notes changes, and prints how Jobs end.
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
	w.progress.show(progressNews{changed: running, open: t.open, complete: len(t.complete), failed: len(t.failed), total: len(w.jobs)})
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
	waited.end = feed.EndOf(waited.job, u.Gone)
	if waited.end == feed.Complete || waited.end == feed.Failed {
		return w.printEnd(waited, u.Job)
	}
	return nil
}

func (w *waiter) printEnd(waited *waitedJob, object *unstructured.Unstructured) error {
	lines := []string{w.endLine(waited)}
	if waited.end == feed.Failed {
		why := w.why(waited.job, object)
		lines = append([]string{lines[0] + ": " + why[0]}, why[1:]...)
	}
	return w.progress.around(func() error {
		if _, err := fmt.Fprintln(w.options.Out, sanitize.Line(lines[0])); err != nil {
			return err
		}
		for _, line := range lines[1:] {
			fmt.Fprintln(w.options.ErrOut, "  "+sanitize.Line(line))
		}
		return nil
	})
}

func (w *waiter) endLine(waited *waitedJob) string {
	line := fmt.Sprintf("%s %s", w.label(waited.job), waited.end)
	took := jobprinter.Row{Job: waited.job, Now: w.options.Now()}.Duration()
	if waited.end == feed.Complete && took != jobprinter.None {
		line += " in " + took
	}
	return line
}

// why has at least one line.
func (w *waiter) why(job *batchv1.Job, object *unstructured.Unstructured) []string {
	if lines := w.verdict(object); len(lines) > 0 {
		return lines
	}
	failed := reconcile.TrueCondition(job, batchv1.JobFailed)
	if failed.Message == "" {
		return []string{jobprinter.OrNone(failed.Reason)}
	}
	return []string{jobprinter.OrNone(failed.Reason) + ": " + failed.Message}
}

// tally is the labels of the Jobs by how they ended, and the Jobs that have not.
type tally struct {
	lost, complete, failed []string
	open                   []*batchv1.Job
}

func (w *waiter) tally() tally {
	var t tally
	for _, waited := range w.jobs {
		label := w.label(waited.job)
		switch waited.end {
		case feed.Complete:
			t.complete = append(t.complete, label)
		case feed.Failed:
			t.failed = append(t.failed, label)
		case feed.Replaced:
			t.lost = append(t.lost, label+" was deleted before it finished, and another was created")
		case feed.Deleted:
			how := " was deleted before it finished"
			if w.options.Selector != "" {
				how = " was deleted or its labels were changed before it finished"
			}
			t.lost = append(t.lost, label+how)
		default:
			t.open = append(t.open, waited.job)
		}
	}
	return t
}

func (w *waiter) label(job *batchv1.Job) string { return w.options.label(job.Namespace, job.Name) }

// settle returns errOver, and sets the result, when nothing that may come can change it.
func (w *waiter) settle(t tally) error {
	goal := waitGoal(w.options.goal)
	switch {
	case len(t.lost) > 0:
		w.result = cmdutil.NewUserError(cmdutil.KindNotFound, nil, strings.Join(t.lost, "; "), "")
	case goal == goalFailed && len(t.complete) > 0:
		w.result = cmdutil.NewUserError(cmdutil.KindOther, nil, "cannot fail because it is already complete: "+strings.Join(t.complete, ", "), "")
	case goal == goalComplete && len(t.failed) > 0:
		w.giveUp(t)
		w.result = cmdutil.JobFailed(t.failed)
	case len(t.open) > 0:
		return nil
	case goal == goalFinished && len(t.failed) > 0:
		w.result = cmdutil.JobFailed(t.failed)
	}
	return errOver
}

// giveUp reports that the other Jobs are not waited for.
func (w *waiter) giveUp(t tally) {
	if n := len(t.open); n > 0 {
		fmt.Fprintf(w.progress, "Not waiting for %d more: %s has failed, so not all can complete.\n", n, sanitize.Line(t.failed[0]))
	}
}

// timeoutError has a line for each Job that has not ended.
func (w *waiter) timeoutError() error {
	what := fmt.Sprintf("timed out after %s", w.options.timeout)
	if w.options.timeout == 0 {
		what = "not finished yet"
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
		progress := progressCell(jobprinter.Row{Job: job, Now: w.options.Now()})
		lines = append(lines, lineOf(fmt.Sprintf("%s %s, %s", w.label(job), analysis.Status(job), progress)))
	}
	if more := len(open) - timeoutLines; more > 0 {
		lines = append(lines, lineOf(fmt.Sprintf("%d more", more)))
	}
	return errors.Join(lines...)
}
