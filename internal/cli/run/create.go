package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobwrite"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

const (
	// cleanupTime is the time limit for requests after Ctrl-C, a timeout or an error.
	cleanupTime = 10 * time.Second
	// answerTime is how long to look for a Job after its creation got no response.
	answerTime = 30 * time.Second
)

// read returns the Jobs of the manifests and the objects to be created before them, ready to be sent; or all errors
// in them.
func (o *Options) read(ctx context.Context) (jobs, others []*manifest.Object, err error) {
	objects, problems := o.manifests.Read(ctx, o.Env)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if len(problems) == 0 && len(objects) == 0 {
		return nil, nil, cmdutil.UsageErrorf("%v", o.manifests.NoJobsError())
	}
	for _, object := range o.manifests.Choose(objects, isJob, false) {
		problems = append(problems, o.manifests.Prepare(object, false)...)
		if isJob(object) {
			jobs = append(jobs, object)
		} else {
			others = append(others, object)
		}
	}
	if len(problems) == 0 && len(jobs) == 0 {
		for _, object := range others {
			problems = append(problems, object.Errorf("kind", "run follows Jobs, and there is none, only a %s; use: kubectl batchjob create -f", object.Kind()))
		}
	}
	return jobs, others, errors.Join(problems...)
}

// isJob reports whether the object is a Job, or is meant to be one.
func isJob(object *manifest.Object) bool {
	return manifest.IsBatch(object) && manifest.BatchKind(object) == "Job"
}

// checkPermissions checks the permissions that are needed after the creation, so that nothing is created without
// them.
func (o *Options) checkPermissions(ctx context.Context, objects []*manifest.Object) error {
	verbs := []string{"create", "list"}
	if o.remove || o.replace || o.onCancel == cancelDelete {
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
			call := feed.JobSet{Namespace: namespace}.Call(verb, "")
			if cmdutil.IsDenied(ctx, o.explainer.Client, call) {
				return cmdutil.NewUserError(cmdutil.KindForbidden, nil, fmt.Sprintf("you may not %s jobs %s; nothing was created", verb, call.Where()),
					"ask for it, and check it with: "+call.CanI())
			}
		}
	}
	return ctx.Err()
}

// createAll creates the objects of other kinds, which the Jobs may need, and then the Jobs; or nothing.
func (o *Options) createAll(ctx context.Context, jobs, others []*manifest.Object) ([]*task, error) {
	var tasks []*task
	for _, object := range slices.Concat(others, jobs) {
		created, err := (*unstructured.Unstructured)(nil), ctx.Err()
		if err == nil {
			created, err = o.create(ctx, object)
		}
		if err != nil {
			problems := manifests.Locate(object, err)
			switch {
			case isJob(object) && apierrors.IsAlreadyExists(err):
				problems = []error{cmdutil.NewUserError(cmdutil.KindOf(cmdutil.ExplainError(err)), err,
					fmt.Sprintf("%s: job.batch/%s already exists", object.Position("metadata.name"), object.Name()), "to delete it first, use --replace")}
			case !isJob(object):
				problems = append(problems, manifests.MayExist(object, err))
			}
			return nil, errors.Join(append(problems, o.deleteAll(ctx, tasks), ctx.Err())...)
		}
		if !isJob(object) {
			o.others = append(o.others, created)
			continue
		}
		a, err := newAttempt(created)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, &task{attempts: []*attempt{a}})
	}
	for _, other := range o.others {
		fmt.Fprintln(o.ErrOut, manifests.Label(other)+" created")
	}
	for _, t := range tasks {
		fmt.Fprintf(o.ErrOut, "job.batch/%s created\n", sanitize.Line(t.last().job.Name))
	}
	return tasks, nil
}

// create creates an object, and a Job exactly once. Ctrl-C does not cancel a request that was sent, as it would then be
// unknown whether the object exists.
func (o *Options) create(ctx context.Context, object *manifest.Object) (*unstructured.Unstructured, error) {
	job := &unstructured.Unstructured{Object: object.Content}
	writer, err := o.creator.Writer(ctx, job)
	if err != nil {
		return nil, err
	}
	// context.Canceled counts as an interruption, and is not printed; noAnswer replaces it if our own limit canceled the request.
	noAnswer := cmdutil.NewUserError(cmdutil.KindUnreachable, nil, "no answer from the API server", "")
	lingering, cancel := interrupt.Linger(ctx, cleanupTime, o.After)
	defer cancel()
	if !isJob(object) {
		created, err := writer.Create(lingering, job)
		if errors.Is(err, context.Canceled) {
			err = apicall.Of(err).Wrap(noAnswer)
		}
		return created, err
	}
	jobwrite.Mark(job, "")
	lingering, stop := o.limit(lingering, answerTime)
	defer stop()
	created, err := writer.CreateOnce(ctx, lingering, job, ptr.To(o.Timing()))
	_, isUnknown := errors.AsType[*jobwrite.UnknownError](err)
	if errors.Is(err, context.Canceled) && (isUnknown || ctx.Err() == nil) {
		err = noAnswer
	}
	if isUnknown {
		return nil, cmdutil.NewUserError(cmdutil.KindOf(cmdutil.ExplainError(err)), err,
			fmt.Sprintf("cannot find out whether job.batch/%s was created: %s", job.GetName(), cmdutil.ErrorLine(err)),
			fmt.Sprintf("look for it with: kubectl get job %s -n %s", job.GetName(), writer.Call.Namespace))
	}
	return created, err
}
