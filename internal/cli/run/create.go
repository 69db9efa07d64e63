package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

const (
	// cleanupTime is the time limit for requests after Ctrl-C, a timeout or an error.
	cleanupTime = 10 * time.Second
	// answerTime is how long to look for a Job after its creation got no response.
	answerTime = 30 * time.Second
	// generatedLength is the length of the random suffix of a generated name.
	generatedLength = 5
)

// read returns the Jobs of the manifests and the objects to be created before them, ready to be sent; or all errors
// in them.
func (o *Options) read(ctx context.Context) (jobs, others []*manifest.Object, err error) {
	objects, problems := o.manifests.Read(ctx, o.In)
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
			if err != nil || allowed { // Without permission to ask, the attempt will show it.
				continue
			}
			call := apicall.Call{Verb: verb, Group: batchv1.GroupName, Resource: "jobs", Namespace: namespace}
			return cmdutil.NewUserError(cmdutil.KindForbidden, nil, fmt.Sprintf("you may not %s jobs %s; nothing was created", verb, call.Where()),
				"ask for it, and check it with: "+call.CanI())
		}
	}
	return nil
}

// createOthers creates the objects of other kinds, which the Jobs may need.
func (o *Options) createOthers(ctx context.Context, objects []*manifest.Object) error {
	for _, object := range objects {
		err := ctx.Err()
		var created *unstructured.Unstructured
		if err == nil {
			created, err = o.creator.Create(ctx, &unstructured.Unstructured{Object: object.Content})
		}
		if err != nil {
			problems := append(manifests.Locate(object, err), manifests.MayExist(object, err), o.deleteAll(ctx, nil))
			return errors.Join(problems...)
		}
		o.others = append(o.others, created)
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
			created, err = o.create(ctx, object)
		}
		if err != nil {
			return nil, errors.Join(append(manifests.Locate(object, err), o.deleteAll(ctx, tasks))...)
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

// create creates a Job exactly once. As the response may be lost, the request has an ID, and the Job a name that is
// known in advance: the same request can be repeated, and either stores the Job or conflicts with the Job that the
// first request stored. Ctrl-C does not cancel a request that was sent, as it would then be unknown whether the Job
// exists.
func (o *Options) create(ctx context.Context, object *manifest.Object) (*unstructured.Unstructured, error) {
	interrupted := ctx
	ctx, cancel := o.linger(ctx)
	defer cancel()
	ctx, stop := o.limit(ctx, answerTime)
	defer stop()
	job, generated := &unstructured.Unstructured{Object: object.Content}, object.Name() == ""
	mark(job, generated)
	var sent atomic.Bool // An earlier error, such as an unknown host, is final.
	sending, abort := context.WithCancel(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}))
	defer abort()
	defer context.AfterFunc(interrupted, func() {
		if !sent.Load() {
			abort()
		}
	})()
	for {
		created, err := o.creator.Create(sending, job)
		switch {
		case err == nil:
			return created, nil
		case apierrors.IsAlreadyExists(err):
			// client-go repeats a request if the response has Retry-After; the stored Job may be from the first
			// request.
			stored, getErr := o.jobsOf(job).Get(ctx, job.GetName(), metav1.GetOptions{})
			if getErr == nil && idOf(stored) == idOf(job) {
				return stored, nil
			}
			if !generated {
				return nil, err
			}
			mark(job, generated)
		case !sent.Load() || !kube.MayBeDone(err):
			return nil, err
		default:
			return o.settle(ctx, job, err)
		}
	}
}

// jobsOf returns the client for the Job's namespace.
func (o *Options) jobsOf(job *unstructured.Unstructured) dynamic.ResourceInterface {
	return o.jobs.Namespace(cmp.Or(job.GetNamespace(), o.namespace))
}

// settle finds or creates a Job after the response to its creation was lost.
func (o *Options) settle(ctx context.Context, job *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	for pause := o.Retry.First; ; pause = min(2*pause, o.Retry.Max) {
		stored, getErr := o.jobsOf(job).Get(ctx, job.GetName(), metav1.GetOptions{})
		switch found := getErr == nil; {
		case found && idOf(stored) == idOf(job):
			return stored, nil
		case !kube.MayBeDone(err) && (found || kube.IsNotFound(getErr)): // The first request's Job would have been found.
			return nil, err
		}
		if o.Timing().Pause(ctx, pause, nil) != nil {
			namespace := cmp.Or(job.GetNamespace(), o.namespace)
			return nil, cmdutil.NewUserError(cmdutil.KindOf(cmdutil.ExplainError(err)), err,
				fmt.Sprintf("cannot find out whether job.batch/%s was created: %s", job.GetName(), cmdutil.ErrorLine(err)),
				fmt.Sprintf("look for it with: kubectl get job %s -n %s", job.GetName(), namespace))
		}
		created, createErr := o.creator.Create(ctx, job)
		if createErr == nil {
			return created, nil
		}
		if ctx.Err() == nil {
			err = createErr
		}
	}
}

// idOf returns the ID of the request that created the Job.
func idOf(job *unstructured.Unstructured) string {
	return job.GetAnnotations()[retry.RequestAnnotation]
}

// mark sets the ID of the request on a Job, and replaces generateName by a name.
func mark(job *unstructured.Unstructured, generated bool) {
	annotations := job.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[retry.RequestAnnotation] = string(uuid.NewUUID())
	job.SetAnnotations(annotations)
	if base := job.GetGenerateName(); generated { // as the API server generates it
		job.SetName(base[:min(len(base), validation.DNS1123LabelMaxLength-generatedLength)] + rand.String(generatedLength))
	}
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
