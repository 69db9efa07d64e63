package rerun

import (
	"context"
	"errors"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clientretry "k8s.io/client-go/util/retry"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobwrite"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// cleanupTime is the time limit for the removal of a Job whose creation could not be finished.
const cleanupTime = 10 * time.Second

// Create checks permissions, removes interrupted retries of the family, creates the Job and makes it run. It returns
// the running Job. On error, no Job is left, or the error or a line in Options.Out names it and says whether it runs.
func (c *Client) Create(ctx context.Context, f *Found, plan *retry.Retry) (*unstructured.Unstructured, error) {
	if err := c.check(ctx, plan); err != nil {
		return nil, err
	}
	if c.options.DryRun {
		return c.send(ctx, f, plan)
	}
	if err := c.removePending(ctx, f.pending); err != nil {
		return nil, err
	}
	if jobwrite.RequestID(plan.Object) == "" {
		Mark(plan, nil)
	}
	return c.make(ctx, f, plan)
}

// Mark sets the request ID by which Stored recognizes the plan's Job. The ID is the one of the plan before, if any,
// so that Stored recognizes the Job of either plan.
func Mark(plan, before *retry.Retry) {
	id := ""
	if before != nil {
		id = jobwrite.RequestID(before.Object)
	}
	jobwrite.Mark(plan.Object, id)
}

// Stored returns the Job of a marked plan if it was stored by a Create without a response, and runs or has run;
// otherwise nil, and Create may be called again.
func (c *Client) Stored(ctx context.Context, plan *retry.Retry) (*unstructured.Unstructured, error) {
	object, err := c.jobs.Get(ctx, plan.Object.GetName())
	if kube.IsNotFound(err) {
		return nil, nil //nolint:nilnil // nothing is stored
	}
	if err != nil || isPending(object) || !jobwrite.IsSameRequest(plan.Object, object) {
		return nil, err
	}
	return object, nil
}

// check checks the permissions that are needed after the creation, so that nothing is created without them.
func (c *Client) check(ctx context.Context, plan *retry.Retry) error {
	if plan.Steps == nil {
		return nil
	}
	for _, subresource := range []string{"", "status"} {
		allowed, err := c.may(ctx, "patch", subresource)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			continue // Without permission to ask, the attempt will show it.
		}
		if !allowed {
			return c.explainForbidden(subresource, plan, nil)
		}
	}
	return nil
}

// IsAllowed reports whether the user may create all kinds of retries; false without an answer.
func (c *Client) IsAllowed(ctx context.Context) bool {
	for _, need := range []struct{ verb, subresource string }{{"create", ""}, {"patch", ""}, {"patch", "status"}} {
		if allowed, err := c.may(ctx, need.verb, need.subresource); err != nil || !allowed {
			return false
		}
	}
	return true
}

func (c *Client) may(ctx context.Context, verb, subresource string) (bool, error) {
	return cmdutil.IsAllowed(ctx, c.kube, authorizationv1.ResourceAttributes{
		Namespace: c.jobs.Namespace, Verb: verb, Group: batchv1.GroupName, Resource: "jobs", Subresource: subresource,
	})
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

// make creates the Job, writes its status and resumes it. It returns the running Job.
func (c *Client) make(ctx context.Context, f *Found, plan *retry.Retry) (*unstructured.Unstructured, error) {
	created, err := c.send(ctx, f, plan)
	if err != nil {
		return nil, err
	}
	if plan.Steps == nil || !isPending(created) {
		return c.running(created, ctx.Err())
	}
	name, uid := created.GetName(), created.GetUID()
	if _, err := c.write.Patch(ctx, name, types.MergePatchType, plan.Steps.StatusPatch(uid), "status"); err != nil {
		if apierrors.IsForbidden(err) {
			err = c.explainForbidden("status", plan, err)
		}
		return c.undo(ctx, created, err, false)
	}
	resumed, err := c.write.Patch(ctx, name, types.JSONPatchType, plan.Steps.ResumePatch(uid), "")
	if err != nil {
		return c.undo(ctx, created, err, kube.MayBeDone(err))
	}
	return resumed, nil
}

// send creates the Job. If the response was lost, it returns the Job if it was stored.
func (c *Client) send(ctx context.Context, f *Found, plan *retry.Retry) (*unstructured.Unstructured, error) {
	name := plan.Object.GetName()
	created, err := c.write.CreateOnce(ctx, plan.Object, nil)
	if unknown, is := errors.AsType[*jobwrite.UnknownError](err); is {
		return nil, errors.Join(unknown.Unwrap(), cmdutil.NewUserError(cmdutil.KindOther, unknown.Look,
			fmt.Sprintf("job.batch/%s may have been created, or may still be", name), "see it with: "+c.statusCommand(name)))
	}
	if err != nil {
		return nil, c.explainCreation(f, created, name, err)
	}
	return created, nil
}

// undo removes a Job that could not be resumed. If the response to that request was lost, the Job may run, and then
// undo returns it without an error.
func (c *Client) undo(ctx context.Context, created *unstructured.Unstructured, failure error, mayRun bool) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
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
// the command, it reports the Job and returns the error.
func (c *Client) running(object *unstructured.Unstructured, failure error) (*unstructured.Unstructured, error) {
	if errors.Is(failure, context.Canceled) {
		fmt.Fprintf(c.options.Out, "job.batch/%s was created, and runs.\n", sanitize.Line(object.GetName()))
		return nil, failure
	}
	return object, nil
}

func isPending(object *unstructured.Unstructured) bool {
	_, pending := object.GetAnnotations()[retry.PendingAnnotation]
	return pending
}
