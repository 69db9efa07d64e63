package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
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
	// blockedTime is how long the output may be blocked after Ctrl-C before the process ends without --on-cancel.
	blockedTime = 15 * time.Second
	// explainedLines is the number of log lines in an explanation.
	explainedLines = 10
)

// finish explains failures, writes the report, and deletes or keeps the Jobs, according to the flags. err is why the
// Jobs are not followed to their end, nil if they were.
func (r *runner) finish(ctx context.Context, err error) error {
	r.set.Close()
	if ctx.Err() != nil {
		return r.cancel(ctx)
	}
	look, stop := r.o.limit(ctx, explainTime)
	defer stop()
	problems := []error{cmp.Or(err, r.set.Result(r.set.Ends()))}
	open := r.readReports(look)
	if r.o.logs == logsFailed {
		for _, t := range r.tasks {
			if t.last().job.End == reconcile.OutcomeFailed {
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
			r.note(fmt.Sprintf("%s keeps running; delete it with: %s", r.label(a), deleteCommand(a.job.Object)))
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
			if a := t.last(); a.job.End == "" {
				err = errors.Join(err, r.leave(ctx, a))
			}
		}
	}
	return errors.Join(ctx.Err(), err, r.writeReport(look, ctx.Err()))
}

// leave suspends a running Job, or prints that it keeps running.
func (r *runner) leave(ctx context.Context, a *attempt) error {
	if r.o.onCancel == cancelKeep {
		r.note(fmt.Sprintf("Interrupted: %s keeps running; delete it with: %s", r.label(a), deleteCommand(a.job.Object)))
		return nil
	}
	sending, stop := r.o.limit(context.WithoutCancel(ctx), cleanupTime)
	defer stop()
	writer, err := r.o.creator.Writer(sending, a.job.Object)
	if err == nil {
		err = writer.SetSuspend(sending, a.job.Name, a.job.UID, true)
	}
	if err != nil {
		return left("suspend", a.job.Object, err)
	}
	r.note(fmt.Sprintf(`Interrupted: suspended %s; resume it with: kubectl patch job %s -n %s -p '{"spec":{"suspend":false}}'`,
		r.label(a), a.job.Name, a.job.Namespace))
	return nil
}

// readReports reads the missing reports on the Jobs, and returns the unfinished ones.
func (r *runner) readReports(ctx context.Context) (open []*attempt) {
	for _, t := range r.tasks {
		a := t.last()
		if a.job.End == "" {
			open = append(open, a)
		}
		if a.report == nil && (a.job.End != reconcile.OutcomeComplete || r.report != nil) {
			r.explain(ctx, a)
		}
	}
	return open
}

// explainAll prints to stderr why Jobs have failed or have not finished.
func (r *runner) explainAll() error {
	var reports []explain.Report
	for _, t := range r.tasks {
		if a := t.last(); a.report != nil && (a.job.End == "" || a.job.End == reconcile.OutcomeFailed) {
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
			objects = append(objects, a.job.Object)
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
	interrupt.Hold(limited)
	stop := o.After(d, cancel)
	return limited, func() {
		stop()
		cancel()
	}
}
