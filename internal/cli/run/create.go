package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/creation"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
)

// cleanupTime is how long what comes after Ctrl-C, a timeout or an error may take.
const cleanupTime = 10 * time.Second

// read returns the Jobs of the manifests, ready to be sent; or every reason why they cannot be.
func (o *Options) read(ctx context.Context) ([]*manifest.Object, error) {
	objects, problems := o.manifests.Read(ctx, o.In)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, object := range objects {
		if kind := cmdutil.BatchKind(object); kind != "" && kind != "Job" && len(object.Jobs()) > 0 {
			problems = append(problems, object.Errorf("kind", "run creates only Jobs, not a %s; use: kubectl batchjob create -f", kind))
			continue
		}
		problems = append(problems, o.manifests.Prepare(object, false)...)
	}
	if len(problems) == 0 && len(objects) == 0 {
		err := o.manifests.NoJobsError()
		return nil, cmdutil.UsageErrorf("%v", err)
	}
	return objects, errors.Join(problems...)
}

// checkPermissions asks for the permissions that come after the creation, so that nothing is created without them.
func (o *Options) checkPermissions(ctx context.Context, objects []*manifest.Object) error {
	verbs := []string{"create", "list"}
	if o.remove || o.onCancel == cancelDelete {
		verbs = append(verbs, "delete")
	}
	if o.onCancel == cancelSuspend {
		verbs = append(verbs, "patch")
	}
	var namespaces []string
	for _, object := range objects {
		namespaces = append(namespaces, cmp.Or(object.Namespace(), o.namespace))
	}
	slices.Sort(namespaces)
	for _, namespace := range slices.Compact(namespaces) {
		for _, verb := range verbs {
			allowed, err := cmdutil.IsAllowed(ctx, o.explainer.Client, authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: verb, Group: batchv1.GroupName, Resource: "jobs",
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil || allowed { // Without permission to ask, the attempt shows.
				continue
			}
			call := apicall.Call{Verb: verb, Group: batchv1.GroupName, Resource: "jobs", Namespace: namespace}
			return cmdutil.NewUserError(cmdutil.KindForbidden, nil, fmt.Sprintf("you may not %s jobs %s; nothing was created", verb, call.Where()),
				"ask for it, and check it with: "+call.CanI())
		}
	}
	return nil
}

// createAll creates the Jobs, or none of them.
func (o *Options) createAll(ctx context.Context, objects []*manifest.Object) ([]*task, error) {
	var tasks []*task
	for _, object := range objects {
		err := ctx.Err()
		var created *unstructured.Unstructured
		if err == nil {
			// An interrupted request would leave open whether the Job exists.
			sending, cancel := o.linger(ctx)
			created, err = o.creator.Create(sending, &unstructured.Unstructured{Object: object.Content})
			cancel()
		}
		if err != nil {
			return nil, errors.Join(append(creation.Locate(object, err), o.deleteAll(ctx, tasks))...)
		}
		job, err := cmdutil.ToJob(created)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, &task{attempts: []*attempt{{object: created, job: job}}})
	}
	for _, t := range tasks {
		fmt.Fprintf(o.ErrOut, "job.batch/%s created\n", sanitize.Line(t.last().job.Name))
	}
	return tasks, nil
}

// linger returns a context that outlives ctx by cleanupTime.
func (o *Options) linger(ctx context.Context) (context.Context, context.CancelFunc) {
	lingering, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { o.After(cleanupTime, cancel) })
	return lingering, func() {
		stop()
		cancel()
	}
}
