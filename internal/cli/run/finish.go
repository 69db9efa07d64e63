package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

const (
	// explainTime is the time limit for reading reports at the end, and canceledTime the limit after Ctrl-C, when a
	// CI system waits a few seconds before it ends the process.
	explainTime  = time.Minute
	canceledTime = 3 * time.Second
	// explainedLines is the number of log lines in an explanation, and timeoutLines the maximum number of Jobs that a
	// timeout lists.
	explainedLines = 10
	timeoutLines   = 10
)

// finish explains failures, writes the report, and deletes or keeps the Jobs, according to the flags. err is why the
// Jobs are not followed to their end, nil if they were.
func (r *runner) finish(ctx context.Context, err error) error {
	r.progress.Close()
	if ctx.Err() != nil {
		return r.cancel(ctx)
	}
	look, stop := r.o.limit(ctx, explainTime)
	defer stop()
	problems := []error{r.result(err)}
	open := r.readReports(look)
	if r.o.logs == logsFailed {
		for _, t := range r.tasks {
			if t.last().end == reconcile.OutcomeFailed {
				problems = append(problems, r.printTails(look, t.last()))
			}
		}
	}
	problems = append(problems, r.explainAll(), r.writeReport(look, err))
	if ctx.Err() != nil {
		return r.cancel(ctx)
	}
	if r.o.remove {
		problems = append(problems, r.o.deleteAll(ctx, r.tasks))
	} else {
		for _, a := range open {
			r.note(fmt.Sprintf("%s keeps running; delete it with: %s", r.label(a), deleteCommand(a.object)))
		}
	}
	return errors.Join(problems...)
}

// cancel applies --on-cancel, after reading the Jobs once more for the report.
func (r *runner) cancel(ctx context.Context) error {
	look, stop := r.o.limit(context.WithoutCancel(ctx), canceledTime)
	defer stop()
	if r.report != nil {
		r.readReports(look)
	}
	var err error
	switch r.o.onCancel {
	case cancelDelete:
		err = r.o.deleteAll(ctx, r.tasks)
	default:
		for _, t := range r.tasks {
			if a := t.last(); a.end == "" {
				err = errors.Join(err, r.leave(ctx, a))
			}
		}
	}
	return errors.Join(ctx.Err(), err, r.writeReport(look, ctx.Err()))
}

// leave suspends a running Job, or prints that it keeps running.
func (r *runner) leave(ctx context.Context, a *attempt) error {
	if r.o.onCancel == cancelKeep {
		r.note(fmt.Sprintf("Interrupted: %s keeps running; delete it with: %s", r.label(a), deleteCommand(a.object)))
		return nil
	}
	sending, stop := r.o.limit(context.WithoutCancel(ctx), cleanupTime)
	defer stop()
	writer, err := r.o.creator.Writer(sending, a.object)
	if err == nil {
		err = writer.SetSuspend(sending, a.job.Name, a.job.UID, true)
	}
	if err != nil {
		return left("suspend", a.object, err)
	}
	r.note(fmt.Sprintf(`Interrupted: suspended %s; resume it with: kubectl patch job %s -n %s -p '{"spec":{"suspend":false}}'`,
		r.label(a), a.job.Name, a.job.Namespace))
	return nil
}

// result returns the error of the command; err is why the Jobs are not followed to their end, nil if they were.
func (r *runner) result(err error) error {
	switch {
	case errors.Is(err, errTimeout):
		return r.timeoutError()
	case errors.Is(err, errStalled):
		return r.stalledError()
	}
	if err != nil {
		return err
	}
	var lost []error
	var failed []string
	for _, t := range r.tasks {
		switch a := t.last(); {
		case a.isLost():
			lost = append(lost, cmdutil.NewUserError(cmdutil.KindNotFound, nil, r.endLine(a), ""))
		case a.end == reconcile.OutcomeFailed:
			failed = append(failed, r.label(a))
		}
	}
	if lost == nil && failed != nil {
		return cmdutil.JobFailed(failed)
	}
	return errors.Join(lost...)
}

// timeoutError returns an error with a line for each unfinished Job.
func (r *runner) timeoutError() error {
	var lines []error
	for _, job := range r.open() {
		what := fmt.Sprintf("timed out after %s: %s %s", r.o.timeout, r.label(&attempt{job: job}), r.progress.Describe(job))
		lines = append(lines, cmdutil.NewUserError(cmdutil.KindTimeout, errTimeout, what, ""))
	}
	if more := len(lines) - timeoutLines; more > 0 {
		lines = append(lines[:timeoutLines], cmdutil.NewUserError(cmdutil.KindTimeout, errTimeout, fmt.Sprintf("timed out: %d more", more), ""))
	}
	return errors.Join(lines...)
}

// stalledError returns an error with a line for each unfinished Job.
func (r *runner) stalledError() error {
	var lines []error
	for _, job := range r.open() {
		lines = append(lines, follow.StalledError(r.label(&attempt{job: job}), r.o.stalled.After, r.stalls[job.UID], r.why(job)))
	}
	return errors.Join(follow.FirstErrors(lines, timeoutLines)...)
}

// readReports reads the missing reports on the Jobs, and returns the unfinished ones.
func (r *runner) readReports(ctx context.Context) (open []*attempt) {
	for _, t := range r.tasks {
		a := t.last()
		if a.end == "" {
			open = append(open, a)
		}
		if a.report == nil && (a.end != reconcile.OutcomeComplete || r.report != nil) {
			a.report = r.explain(ctx, a)
		}
	}
	return open
}

// explainAll prints to stderr why Jobs have failed or have not finished.
func (r *runner) explainAll() error {
	var reports []explain.Report
	for _, t := range r.tasks {
		if a := t.last(); a.report != nil && (a.end == "" || a.end == reconcile.OutcomeFailed) {
			reports = append(reports, *a.report)
		}
	}
	if len(reports) == 0 {
		return nil
	}
	env := r.o.Env
	env.Out = env.ErrOut
	options := r.o.color.TextOptions(env, false)
	options.Namespace = cmdutil.CurrentNamespace(r.o.kube)
	fmt.Fprintln(r.o.ErrOut)
	if len(reports) == 1 {
		options.Again = cmdutil.WhyCommand(r.o.kube, reports[0].Job.Namespace, reports[0].Job.Name) + " --full"
		return text.Short(r.o.ErrOut, reports[0], options)
	}
	options.Again = "kubectl batchjob why NAME --full"
	return text.Explanations(r.o.ErrOut, analysis.List(reports), options)
}

// deleteAll deletes all Jobs, their retries, and the objects created for them. The error names the objects that are left.
func (o *Options) deleteAll(ctx context.Context, tasks []*task) error {
	ctx, stop := o.limit(context.WithoutCancel(ctx), cleanupTime)
	defer stop()
	var objects []*unstructured.Unstructured
	for _, t := range tasks {
		for _, a := range t.attempts {
			objects = append(objects, a.object)
		}
	}
	for _, other := range slices.Backward(o.others) {
		objects = append(objects, other)
	}
	var failed []error
	var deleted []string
	for _, object := range objects {
		writer, err := o.creator.Writer(ctx, object)
		if err == nil {
			err = writer.Delete(ctx, object.GetName(), object.GetUID(), "")
		}
		switch {
		case err == nil:
			deleted = append(deleted, manifests.Label(object))
		case !kube.IsNotFound(err) && !apierrors.IsConflict(err): // If another object has its name, the error is a conflict.
			failed = append(failed, left("delete", object, err))
		}
	}
	if len(deleted) > 0 {
		fmt.Fprintln(o.ErrOut, "Deleted "+strings.Join(deleted, ", ")+".")
	}
	return errors.Join(failed...)
}

// left returns the error for an object that could not be deleted or suspended.
func left(verb string, object *unstructured.Unstructured, err error) error {
	return cmdutil.NewUserError(cmdutil.KindOther, err,
		fmt.Sprintf("cannot %s %s, which is left as it is: %s", verb, manifests.Label(object), cmdutil.ErrorLine(err)),
		"delete it with: "+deleteCommand(object))
}

func deleteCommand(object *unstructured.Unstructured) string {
	command := "kubectl delete " + manifests.Label(object)
	if object.GetKind() == "Job" {
		command = "kubectl delete job " + object.GetName()
	}
	if namespace := object.GetNamespace(); namespace != "" {
		command += " -n " + namespace
	}
	return command
}

// limit returns a context that is canceled after d. It has no deadline, because client-go fails early if it expects
// to exceed one.
func (o *Options) limit(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancel(ctx)
	stop := o.After(d, cancel)
	return limited, func() {
		stop()
		cancel()
	}
}
