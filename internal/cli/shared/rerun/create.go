package rerun

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clientretry "k8s.io/client-go/util/retry"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobwrite"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// cleanupTime is the time limit for deletions after the creation, whether that succeeded or not.
const cleanupTime = 10 * time.Second

// Create checks permissions, removes interrupted retries of the family, creates the Job and makes it run. It returns
// the running Job. On error, no Job is left, or the error or a line in Options.Out names it and says whether it runs; if
// the Job is known to run, Create returns it with the error.
func (c *Client) Create(ctx context.Context, f *Candidate, plan *retry.Plan) (*unstructured.Unstructured, error) {
	if plan.Steps != nil { // Nothing is created without the permissions for the steps.
		for _, call := range c.stepCalls() {
			if cmdutil.IsDenied(ctx, c.kube, call) {
				return nil, c.explainForbidden(call, plan, nil)
			}
		}
	}
	if !c.options.DryRun {
		if err := c.removePending(ctx, f.pending); err != nil {
			return nil, err
		}
		if jobwrite.RequestID(plan.Object) == "" {
			Mark(plan, nil)
		}
	}
	created, err := c.write.CreateOnce(ctx, ctx, plan.Object, nil)
	unknown, isUnknown := errors.AsType[*jobwrite.UnknownError](err)
	switch {
	case isUnknown:
		name := plan.Object.GetName()
		return nil, errors.Join(unknown.Unwrap(), cmdutil.NewUserError(cmdutil.KindOther, unknown.Look,
			fmt.Sprintf("job.batch/%s may have been created, or may still be", name), "see it with: "+c.statusCommand(name)))
	case apierrors.IsAlreadyExists(err):
		return nil, c.explainExists(f, created, plan.Object.GetName(), err)
	case err != nil:
		return nil, err
	case c.options.DryRun:
		return created, nil
	case plan.Steps == nil || !isPending(created):
		return c.running(created, ctx.Err())
	}
	return c.start(ctx, plan, created)
}

// start marks the other indexes as completed, and then resumes the Job.
func (c *Client) start(ctx context.Context, plan *retry.Plan, created *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	name, uid := created.GetName(), created.GetUID()
	if _, err := c.write.Patch(ctx, name, types.MergePatchType, plan.Steps.StatusPatch(uid), "status"); err != nil {
		if cmdutil.IsMissingPermission(err) {
			err = c.explainForbidden(apicall.Of(err), plan, err)
		}
		return c.undo(ctx, created, err, false)
	}
	resumed, err := c.write.Patch(ctx, name, types.JSONPatchType, plan.Steps.ResumePatch(uid))
	if err != nil {
		return c.undo(ctx, created, err, kube.MayBeDone(err))
	}
	return resumed, nil
}

// Replace creates the retry of an unfinished Job like Create, and then deletes the old Job with its pods, so that a
// failed creation leaves the old Job running. On error with a Job, the retry runs, and the old Job is deleted unless the
// error names it.
func (c *Client) Replace(ctx context.Context, f *Candidate, plan *retry.Plan) (*unstructured.Unstructured, error) {
	if call := c.jobs.Call("delete", ""); cmdutil.IsDenied(ctx, c.kube, call) {
		return nil, cmdutil.NewUserError(cmdutil.KindForbidden, nil,
			fmt.Sprintf("you may not delete %s %s, and --replace does", call.Resource, call.Where()), askFor(call))
	}
	made, failure := c.Create(ctx, f, plan)
	if made == nil || c.options.DryRun {
		return made, failure
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime) // despite Ctrl-C: two Jobs would do the same work
	defer cancel()
	interrupt.Hold(ctx)
	name := f.Job.Name
	if err := c.write.Delete(ctx, name, f.Job.UID, ""); err != nil && !kube.IsNotFound(err) {
		return made, errors.Join(failure, cmdutil.NewUserError(cmdutil.KindOther, err,
			fmt.Sprintf("job.batch/%s was created, and job.batch/%s, which it replaces, may be left: %v", made.GetName(), name, err),
			"delete it: kubectl delete job "+name+" -n "+c.jobs.Namespace))
	}
	fmt.Fprintf(c.options.Out, "job.batch/%s deleted\n", sanitize.Line(name))
	return made, failure
}

// Mark sets the request ID by which Stored recognizes the plan's Job. The ID is the one of the plan before, if any,
// so that Stored recognizes the Job of either plan.
func Mark(plan, before *retry.Plan) {
	id := ""
	if before != nil {
		id = jobwrite.RequestID(before.Object)
	}
	jobwrite.Mark(plan.Object, id)
}

// Stored returns the Job of a marked plan if it was stored by a Create without a response, and runs or has run;
// otherwise nil, and Create may be called again.
func (c *Client) Stored(ctx context.Context, plan *retry.Plan) (*unstructured.Unstructured, error) {
	object, err := c.jobs.Get(ctx, plan.Object.GetName())
	if kube.IsNotFound(err) {
		return nil, nil // nothing is stored
	}
	if err != nil || isPending(object) || !jobwrite.IsSameRequest(plan.Object, object) {
		return nil, err
	}
	return object, nil
}

// IsAllowed reports whether the user may create all kinds of retries; false without an answer.
func (c *Client) IsAllowed(ctx context.Context) bool {
	for _, call := range append([]apicall.Call{c.jobs.Call("create", "")}, c.stepCalls()...) {
		if allowed, err := cmdutil.IsAllowed(ctx, c.kube, call); err != nil || !allowed {
			return false
		}
	}
	return true
}

// stepCalls returns the calls that make a created Job run only its indexes.
func (c *Client) stepCalls() []apicall.Call {
	patch, status := c.jobs.Call("patch", ""), c.jobs.Call("patch", "")
	status.Resource += "/status"
	return []apicall.Call{patch, status}
}

// removePending deletes retries whose creation was interrupted.
func (c *Client) removePending(ctx context.Context, pending []*batchv1.Job) error {
	for _, job := range pending {
		object, err := c.removeWhilePending(ctx, job.Name, job.UID)
		switch {
		case apierrors.IsConflict(err), err == nil && object.GetUID() == job.UID && !isPending(object):
			return cmdutil.NewUserError(cmdutil.KindServerFailed, err, "another retry is creating job.batch/"+job.Name, "try again")
		case err != nil && !kube.IsNotFound(err):
			return err
		case err == nil && object.GetUID() != job.UID:
			continue // Another client removed it.
		}
		fmt.Fprintf(c.options.Out, "Removed job.batch/%s, whose creation was interrupted.\n", sanitize.Line(job.Name))
	}
	return nil
}

// removeWhilePending deletes a Job unless it is no longer pending or has another UID. It returns the Job as read.
func (c *Client) removeWhilePending(ctx context.Context, name string, uid types.UID) (object *unstructured.Unstructured, err error) {
	err = clientretry.RetryOnConflict(clientretry.DefaultRetry, func() (err error) { // Its controller updates it, too.
		object, err = c.jobs.Get(ctx, name)
		if err == nil && object.GetUID() == uid && isPending(object) {
			err = c.write.Delete(ctx, name, uid, object.GetResourceVersion())
		}
		return err
	})
	return object, err
}

// undo removes a Job that could not be resumed. If the response to that request was lost, the Job may run, and then
// undo returns it as running does.
func (c *Client) undo(ctx context.Context, created *unstructured.Unstructured, failure error, mayRun bool) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	interrupt.Hold(ctx)
	name := created.GetName()
	object, err := c.removeWhilePending(ctx, name, created.GetUID())
	switch {
	case kube.IsNotFound(err), err == nil && object.GetUID() != created.GetUID():
		return nil, explainRemoved(name, failure, mayRun)
	case err != nil:
		return nil, errors.Join(failure, c.explainLeft(name, err, mayRun))
	case isPending(object):
		return nil, failure
	}
	return c.running(object, failure)
}

// running returns the running Job without the error of a request whose response was lost. If the user has interrupted
// the command, it prints that the Job runs, and also returns the error.
func (c *Client) running(object *unstructured.Unstructured, failure error) (*unstructured.Unstructured, error) {
	if errors.Is(failure, context.Canceled) {
		fmt.Fprintf(c.options.Out, "job.batch/%s was created, and runs.\n", sanitize.Line(object.GetName()))
		return object, failure
	}
	return object, nil
}

func isPending(object *unstructured.Unstructured) bool {
	_, pending := object.GetAnnotations()[retry.PendingAnnotation]
	return pending
}
