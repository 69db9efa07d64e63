package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

const (
	// explainTime is the time limit for reading reports at the end, and canceledTime the limit after Ctrl-C, when a
	// CI system waits a few seconds before it ends the process.
	explainTime  = time.Minute
	canceledTime = 3 * time.Second
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
			r.note(fmt.Sprintf("%s keeps running; delete it with: %s", r.label(a), deleteCommand(a)))
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
		r.note(fmt.Sprintf("Interrupted: %s keeps running; delete it with: %s", r.label(a), deleteCommand(a)))
		return nil
	}
	sending, stop := r.o.limit(context.WithoutCancel(ctx), cleanupTime)
	defer stop()
	patch := fmt.Sprintf(`{"metadata":{"uid":%q},"spec":{"suspend":true}}`, a.job.UID)
	options := metav1.PatchOptions{FieldManager: r.o.manifests.FieldManager}
	set := r.o.setOf(a)
	if _, err := set.Client.Patch(sending, a.job.Name, types.MergePatchType, []byte(patch), options); err != nil {
		return left("suspend", a, set.Call("patch", a.job.Name).Wrap(err))
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
	var failed []error
	var deleted []string
	for _, t := range tasks {
		for _, a := range t.attempts {
			switch err := rerun.Remove(ctx, o.setOf(a), a.job.Name, a.job.UID, ""); {
			case err == nil:
				deleted = append(deleted, "job.batch/"+sanitize.Line(a.job.Name))
			case !kube.IsNotFound(err) && !apierrors.IsConflict(err): // If another Job has its name, the error is a conflict.
				failed = append(failed, left("delete", a, err))
			}
		}
	}
	for _, other := range slices.Backward(o.others) {
		switch err := o.creator.Delete(ctx, other); {
		case err == nil:
			deleted = append(deleted, manifests.Label(other))
		case !kube.IsNotFound(err) && !apierrors.IsConflict(err):
			failed = append(failed, cmdutil.NewUserError(cmdutil.KindOther, err, fmt.Sprintf("cannot delete %s: %s", manifests.Label(other), cmdutil.ErrorLine(err)),
				"delete it with: kubectl delete "+manifests.Label(other)+inNamespace(other)))
		}
	}
	if len(deleted) > 0 {
		fmt.Fprintln(o.ErrOut, "Deleted "+strings.Join(deleted, ", ")+".")
	}
	return errors.Join(failed...)
}

// inNamespace returns the flag for an object's namespace, "" if it has none.
func inNamespace(object *unstructured.Unstructured) string {
	if namespace := object.GetNamespace(); namespace != "" {
		return " -n " + namespace
	}
	return ""
}

// left returns the error for a Job that could not be deleted or suspended.
func left(verb string, a *attempt, err error) error {
	return cmdutil.NewUserError(cmdutil.KindOther, err, fmt.Sprintf("cannot %s job.batch/%s, which is left as it is: %s", verb, a.job.Name, cmdutil.ErrorLine(err)),
		"delete it with: "+deleteCommand(a))
}

func deleteCommand(a *attempt) string {
	return fmt.Sprintf("kubectl delete job %s -n %s", a.job.Name, a.job.Namespace)
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
