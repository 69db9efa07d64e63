package retry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// cleanupTime is how long the removal of a Job that could not be finished may take.
const cleanupTime = 10 * time.Second

// client reads families, and makes retries.
type client struct {
	jobs    feed.JobSet
	kube    kubernetes.Interface
	dryRun  []string
	manager string
}

func newClient(flags *genericclioptions.ConfigFlags, warnings io.Writer, dryRun bool, manager string) (*client, error) {
	config, set, err := cmdutil.NewJobSet(flags, cmdutil.JobChoice{}, warnings)
	if err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, cmdutil.ExplainConfigError(err)
	}
	c := &client{jobs: set, kube: kube, manager: manager}
	if dryRun {
		c.dryRun = []string{metav1.DryRunAll}
	}
	return c, nil
}

// found is a Job to retry, as the API server has it, and its family without the pending ones.
type found struct {
	object  *unstructured.Unstructured
	job     *batchv1.Job
	family  retry.Family
	pending []*batchv1.Job
}

// find reads the Job, or the last failed Job of its owner, and its family.
func (c *client) find(ctx context.Context, target target) (*found, error) {
	object, err := c.get(ctx, target)
	if err != nil {
		return nil, err
	}
	job, err := cmdutil.ToJob(object)
	if err != nil {
		return nil, err
	}
	others, err := c.relatives(ctx, job)
	if err != nil {
		return nil, err
	}
	f := &found{object: object, job: job}
	for _, member := range retry.FamilyOf(job, others) {
		if member.UID != job.UID && retry.IsPending(member) {
			f.pending = append(f.pending, member)
			continue
		}
		f.family = append(f.family, member)
	}
	return f, nil
}

func (c *client) get(ctx context.Context, target target) (*unstructured.Unstructured, error) {
	if target.cronJob {
		return c.lastFailed(ctx, target.name)
	}
	object, err := c.jobs.Get(ctx, target.name)
	if apierrors.IsNotFound(err) {
		return nil, c.explainGone(ctx, target.name, err)
	}
	return object, err
}

// lastFailed returns the newest Job of the CronJob that has failed.
func (c *client) lastFailed(ctx context.Context, cronJob string) (last *unstructured.Unstructured, err error) {
	objects, _, err := c.jobs.List(ctx)
	if err != nil {
		return nil, err
	}
	owned := 0
	for _, object := range objects {
		job, err := cmdutil.ToJob(object)
		owner := metav1.GetControllerOf(object)
		if err != nil || owner == nil || owner.Kind != "CronJob" || owner.Name != cronJob {
			continue
		}
		owned++
		failed := reconcile.FinishedCondition(job) == batchv1.JobFailed
		if failed && (last == nil || last.GetCreationTimestamp().Time.Before(job.CreationTimestamp.Time)) {
			last = object
		}
	}
	if last == nil {
		what := fmt.Sprintf("none of the %d Jobs of CronJob %q has failed", owned, cronJob)
		if owned == 0 {
			what = fmt.Sprintf("CronJob %q has no Jobs %s", cronJob, c.jobs.Call("list", "").Where())
		}
		return nil, cmdutil.NewUserError(cmdutil.KindNotFound, nil, what, "name a Job to retry; see: kubectl batchjob status")
	}
	return last, nil
}

// relatives reads the Jobs that may be of the Job's family: the first one and its retries.
func (c *client) relatives(ctx context.Context, job *batchv1.Job) (relatives []*batchv1.Job, err error) {
	set := c.jobs
	set.Selector = retry.OfLabel + "=" + retry.RootOf(job)
	objects, _, err := set.List(ctx)
	if err != nil {
		return nil, err
	}
	if root := retry.RootOf(job); root != job.Name {
		object, err := c.jobs.Get(ctx, root)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
		if err == nil {
			objects = append(objects, object)
		}
	}
	for _, object := range objects {
		relative, err := cmdutil.ToJob(object)
		if err != nil {
			return nil, err
		}
		relatives = append(relatives, relative)
	}
	return relatives, nil
}

// pods reads the pods of Jobs by name.
func (c *client) pods(ctx context.Context, names ...string) ([]corev1.Pod, error) {
	list, err := c.kube.CoreV1().Pods(c.jobs.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: batchv1.JobNameLabel + " in (" + strings.Join(names, ",") + ")",
	})
	if err != nil {
		return nil, apicall.Call{Verb: "list", Resource: "pods", Namespace: c.jobs.Namespace}.Wrap(err)
	}
	return list.Items, nil
}

// ran returns the indexes of the family's pods that have started.
func (c *client) ran(ctx context.Context, family retry.Family) (indexset.Set, error) {
	var names []string
	for _, job := range family {
		names = append(names, job.Name)
	}
	pods, err := c.pods(ctx, names...)
	var ran []int32
	for i := range pods {
		if pods[i].Status.Phase != corev1.PodPending {
			ran = append(ran, observe.CompletionIndex(&pods[i]))
		}
	}
	return indexset.Of(ran...), err
}

// explainGone adds what is left of a Job that does not exist.
func (c *client) explainGone(ctx context.Context, name string, missing error) error {
	pods, err := c.pods(ctx, name)
	if err != nil || len(pods) == 0 {
		return missing
	}
	return cmdutil.NewUserError(cmdutil.KindNotFound, missing,
		fmt.Sprintf("job %q is gone, and only its pods remain (%d), which do not have its spec", name, len(pods)),
		"create it again from its manifest: kubectl batchjob create -f FILE")
}

// check asks for the permissions that come after the creation, so that nothing is created without them.
func (c *client) check(ctx context.Context, plan *retry.Retry) error {
	if plan.Steps == nil {
		return nil
	}
	for _, subresource := range []string{"", "status"} {
		allowed, err := cmdutil.IsAllowed(ctx, c.kube, authorizationv1.ResourceAttributes{
			Namespace: c.jobs.Namespace, Verb: "patch", Group: batchv1.GroupName, Resource: "jobs", Subresource: subresource,
		})
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			continue // Without permission to ask, the attempt shows.
		}
		if !allowed {
			return c.explainForbidden(subresource, plan, nil)
		}
	}
	return nil
}

// removePending deletes retries whose making was interrupted.
func (c *client) removePending(ctx context.Context, pending []*batchv1.Job, out io.Writer) error {
	for _, job := range pending {
		if err := c.remove(ctx, job.Name, job.UID, job.ResourceVersion); err != nil {
			return err
		}
		fmt.Fprintf(out, "Removed job.batch/%s, whose creation was interrupted.\n", sanitize.Line(job.Name))
	}
	return nil
}

// remove deletes a Job if it is still as it was read; version may be "".
func (c *client) remove(ctx context.Context, name string, uid types.UID, version string) error {
	preconditions := &metav1.Preconditions{UID: &uid}
	if version != "" {
		preconditions.ResourceVersion = &version
	}
	err := c.jobs.Client.Delete(ctx, name, metav1.DeleteOptions{
		Preconditions: preconditions, PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return c.jobs.Call("delete", name).Wrap(err)
}

// make creates the Job, and takes the steps that make it run. It returns the Job as it was created.
func (c *client) make(ctx context.Context, plan *retry.Retry) (*unstructured.Unstructured, error) {
	created, err := c.jobs.Client.Create(ctx, plan.Object, metav1.CreateOptions{FieldManager: c.manager, DryRun: c.dryRun})
	if err != nil {
		return nil, c.explainCreation(plan, c.jobs.Call("create", plan.Object.GetName()).Wrap(err))
	}
	if plan.Steps == nil || c.dryRun != nil {
		return created, nil
	}
	if err := c.take(ctx, plan, created); err != nil {
		if err = c.undo(ctx, created, err); err != nil {
			return nil, err
		}
	}
	return created, nil
}

// take writes the status, and resumes.
func (c *client) take(ctx context.Context, plan *retry.Retry, created *unstructured.Unstructured) error {
	name := created.GetName()
	options := metav1.PatchOptions{FieldManager: c.manager}
	_, err := c.jobs.Client.Patch(ctx, name, types.MergePatchType, plan.Steps.StatusPatch(), options, "status")
	if apierrors.IsForbidden(err) {
		return c.explainForbidden("status", plan, err)
	}
	if err != nil {
		call := c.jobs.Call("patch", name)
		call.Resource += "/status"
		return call.Wrap(err)
	}
	_, err = c.jobs.Client.Patch(ctx, name, types.JSONPatchType, plan.Steps.ResumePatch(created.GetUID()), options)
	return c.jobs.Call("patch", name).Wrap(err)
}

// undo removes a Job that could not be resumed. The answer to the last step may have been lost: then the Job runs, and there
// was no failure.
func (c *client) undo(ctx context.Context, created *unstructured.Unstructured, failure error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	name := created.GetName()
	object, err := c.jobs.Get(ctx, name)
	switch {
	case apierrors.IsNotFound(err), err == nil && object.GetUID() != created.GetUID():
		return failure
	case err == nil && !isPending(object):
		if errors.Is(failure, context.Canceled) {
			return failure
		}
		return nil
	case err == nil:
		err = c.remove(ctx, name, object.GetUID(), object.GetResourceVersion())
	}
	if err != nil {
		return errors.Join(failure, cmdutil.NewUserError(cmdutil.KindOther, err,
			fmt.Sprintf("job.batch/%s was created, but is suspended and runs nothing", name),
			"the next retry removes it, or: kubectl delete job "+name+" -n "+c.jobs.Namespace))
	}
	return failure
}

func isPending(object *unstructured.Unstructured) bool {
	_, pending := object.GetAnnotations()[retry.PendingAnnotation]
	return pending
}
