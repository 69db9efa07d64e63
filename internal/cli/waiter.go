package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// errOver ends the watch: the waiter's result is certain.
var errOver = errors.New("the outcome is certain")

// timeoutLines is how many Jobs a timeout lists.
const timeoutLines = 10

// waiter follows Jobs until the outcome is certain.
type waiter struct {
	options  *waitOptions
	progress *waitProgress
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
	jobs := &feed.Jobs{Watch: o.env.newWatch(w.progress), Set: o.client.set(o.selector, o.names), Each: w.take}
	first, err := jobs.First(ctx)
	if err != nil {
		return err
	}
	if missing := jobs.Set.Missing(first); len(missing) > 0 {
		return errors.Join(missing...)
	}
	if len(first) == 0 {
		return newUserError(kindNotFound, nil, fmt.Sprintf("no Job with labels %s %s", o.selector, o.client.call("list", "").Where()), "")
	}
	w.byKey = map[snapshot.JobKey]*waitedJob{}
	for _, object := range first {
		job, err := toJob(object)
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
	w.progress.show(w.news(running))
	err := w.settle()
	if o := w.options; err == nil && o.limited && o.timeout == 0 {
		return w.timeoutError()
	}
	return err
}

func (w *waiter) takeOne(waited *waitedJob, u *feed.Update) error {
	if u.Job != nil {
		job, err := toJob(u.Job)
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
	line := fmt.Sprintf("%s %s", w.options.label(waited.job.Namespace, waited.job.Name), waited.end)
	if took := durationCell(jobView{job: waited.job, now: w.options.env.now()}); waited.end == feed.Complete && took != cellNone {
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
		return []string{orNone(failed.Reason)}
	}
	return []string{orNone(failed.Reason) + ": " + failed.Message}
}

// news is the picture for the progress.
func (w *waiter) news(changed []*batchv1.Job) progressNews {
	news := progressNews{changed: changed, total: len(w.jobs)}
	for _, waited := range w.jobs {
		switch {
		case waited.end == feed.Complete:
			news.complete++
		case waited.end == feed.Failed:
			news.failed++
		case waited.end == "" && news.first == nil:
			news.first = waited.job
		}
	}
	return news
}

// settle returns errOver, and sets the result, when nothing that may come can change it.
func (w *waiter) settle() error {
	lost, complete, failed, open := w.tally()
	goal := waitGoal(w.options.goal)
	switch {
	case len(lost) > 0:
		w.result = newUserError(kindNotFound, nil, strings.Join(lost, "; "), "")
	case goal == goalFailed && len(complete) > 0:
		w.result = newUserError(kindOther, nil, "cannot fail any more, as it is complete: "+strings.Join(complete, ", "), "")
	case goal == goalComplete && len(failed) > 0:
		w.giveUp(failed, open)
		w.result = jobFailed(failed)
	case open > 0:
		return nil
	case goal == goalFinished && len(failed) > 0:
		w.result = jobFailed(failed)
	}
	return errOver
}

// tally returns the Jobs by how they ended, and how many have not.
func (w *waiter) tally() (lost, complete, failed []string, open int) {
	for _, waited := range w.jobs {
		label := w.options.label(waited.job.Namespace, waited.job.Name)
		switch waited.end {
		case feed.Complete:
			complete = append(complete, label)
		case feed.Failed:
			failed = append(failed, label)
		case feed.Replaced:
			lost = append(lost, label+" was deleted before it had ended, and another was created")
		case feed.Deleted:
			how := " was deleted before it had ended"
			if w.options.selector != "" {
				how = " was deleted, or its labels were changed, before it had ended"
			}
			lost = append(lost, label+how)
		default:
			open++
		}
	}
	return lost, complete, failed, open
}

// giveUp says that the end of other Jobs is not awaited.
func (w *waiter) giveUp(failed []string, open int) {
	if open > 0 {
		fmt.Fprintf(w.progress, "Not waiting for %d more, because not all can be complete any more: %s has failed.\n", open, sanitize.Line(failed[0]))
	}
}

func jobFailed(labels []string) error {
	return newUserError(kindJobFailed, nil, "failed: "+strings.Join(labels, ", "), "")
}

// timeoutError has a line for each Job that has not ended.
func (w *waiter) timeoutError() error {
	what := fmt.Sprintf("timed out after %s", w.options.timeout)
	if w.options.timeout == 0 {
		what = "not yet"
	}
	var lines []error
	open := 0
	for _, waited := range w.jobs {
		if waited.end != "" {
			continue
		}
		if open++; open <= timeoutLines {
			lines = append(lines, newUserError(kindTimeout, errWaitTimeout, fmt.Sprintf("%s: %s %s, %s", what, w.options.label(waited.job.Namespace, waited.job.Name),
				explain.Status(waited.job), progressCell(jobView{job: waited.job, now: w.options.env.now()})), ""))
		}
	}
	switch {
	case open == 0:
		return newUserError(kindTimeout, errWaitTimeout, what+": no answer from the API server", "")
	case open > timeoutLines:
		lines = append(lines, newUserError(kindTimeout, errWaitTimeout, fmt.Sprintf("%s: %d more", what, open-timeoutLines), ""))
	}
	return errors.Join(lines...)
}
