package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
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
	byKey  map[jobKey]*waitedJob
	result error // once errOver was returned
}

// waitedJob is a Job that was there at the start, as it was seen last.
type waitedJob struct {
	job  *batchv1.Job
	end  batchv1.JobConditionType // Complete or Failed, "" for neither
	gone string                   // how it went before it ended
}

func (w *waiter) run(ctx context.Context) error {
	o := w.options
	set := jobSet{client: o.client, selector: o.selector, names: o.names}
	jobs, version, err := set.list(ctx)
	if err != nil {
		return err
	}
	if missing := set.missing(jobs); len(missing) > 0 {
		return errors.Join(missing...)
	}
	if len(jobs) == 0 {
		return newUserError(kindNotFound, nil, fmt.Sprintf("no Job with labels %s %s", o.selector, o.client.call("list", "").where()), "")
	}
	if err := w.begin(jobs); err != nil {
		return err
	}
	if o.limited && o.timeout == 0 {
		return w.timeoutError()
	}
	loop := watchLoop{target: watchedJobs{set: set, sink: w}, link: newLink(&linkNotes{out: w.progress}, o.env)}
	return loop.run(ctx, version)
}

func (w *waiter) begin(jobs []*unstructured.Unstructured) error {
	w.byKey = map[jobKey]*waitedJob{}
	for _, object := range jobs {
		job, err := toJob(object)
		if err != nil {
			return err
		}
		waited := &waitedJob{job: job}
		w.jobs = append(w.jobs, waited)
		w.byKey[keyOf(object)] = waited
	}
	return w.changed(jobs...)
}

func (w *waiter) reconcile(jobs []*unstructured.Unstructured) error {
	present := map[jobKey]bool{}
	for _, job := range jobs {
		present[keyOf(job)] = true
	}
	for key, waited := range w.byKey {
		if !present[key] {
			w.lose(waited, w.howGone())
		}
	}
	return w.changed(jobs...)
}

func (w *waiter) changed(jobs ...*unstructured.Unstructured) error {
	var running []*batchv1.Job
	for _, object := range jobs {
		waited := w.byKey[keyOf(object)]
		if waited == nil || waited.end != "" {
			continue
		}
		if err := w.take(waited, object); err != nil {
			return err
		}
		if waited.end == "" && waited.gone == "" {
			running = append(running, waited.job)
		}
	}
	w.progress.show(w.news(running))
	return w.settle()
}

func (w *waiter) removed(object *unstructured.Unstructured) error {
	waited := w.byKey[keyOf(object)]
	if waited == nil {
		return nil
	}
	// It may have ended with the very change that made it go.
	if object.GetUID() == waited.job.UID && waited.end == "" {
		if err := w.take(waited, object); err != nil {
			return err
		}
	}
	w.lose(waited, w.howGone())
	return w.settle()
}

func (w *waiter) howGone() string {
	if w.options.selector != "" {
		return "was deleted, or its labels were changed, before it had ended"
	}
	return "was deleted before it had ended"
}

func (w *waiter) lose(waited *waitedJob, how string) {
	if waited.end == "" && waited.gone == "" {
		waited.gone = how
	}
}

// take notes a new state of a Job, and prints its end.
func (w *waiter) take(waited *waitedJob, object *unstructured.Unstructured) error {
	if object.GetUID() != waited.job.UID {
		w.lose(waited, "was deleted before it had ended, and another was created")
		return nil
	}
	job, err := toJob(object)
	if err != nil {
		return err
	}
	waited.job = job
	for _, end := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if reconcile.TrueCondition(job, end) != nil {
			waited.end = end
			return w.printEnd(waited, object)
		}
	}
	return nil
}

func (w *waiter) printEnd(waited *waitedJob, object *unstructured.Unstructured) error {
	lines := []string{w.endLine(waited)}
	if waited.end == batchv1.JobFailed {
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
	if took := durationCell(jobView{job: waited.job, now: w.options.env.now()}); waited.end == batchv1.JobComplete && took != cellNone {
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
		case waited.end == batchv1.JobComplete:
			news.complete++
		case waited.end == batchv1.JobFailed:
			news.failed++
		case waited.gone == "" && news.first == nil:
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
		switch {
		case waited.gone != "":
			lost = append(lost, label+" "+waited.gone)
		case waited.end == batchv1.JobComplete:
			complete = append(complete, label)
		case waited.end == batchv1.JobFailed:
			failed = append(failed, label)
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
		if waited.end != "" || waited.gone != "" {
			continue
		}
		if open++; open <= timeoutLines {
			lines = append(lines, newUserError(kindTimeout, errWaitTimeout, fmt.Sprintf("%s: %s %s, %s", what, w.options.label(waited.job.Namespace, waited.job.Name),
				analysis.Status(waited.job), progressCell(jobView{job: waited.job, now: w.options.env.now()})), ""))
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
