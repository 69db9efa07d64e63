package view

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobwrite"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
)

// runner runs CronJobs for the view, as run --from does. It holds the retrier's lock during a creation, so that the view
// waits for it at its end.
type runner struct{ *retrier }

func (r runner) Find(ctx context.Context, cronJob types.NamespacedName) (*screen.Retryable, error) {
	client, err := dynamic.NewForConfig(r.config)
	if err != nil {
		return nil, err
	}
	source, err := client.Resource(batchv1.SchemeGroupVersion.WithResource("cronjobs")).Namespace(cronJob.Namespace).Get(ctx, cronJob.Name, metav1.GetOptions{})
	if err != nil {
		call := apicall.Call{Verb: "get", Group: batchv1.GroupName, Resource: "cronjobs", Namespace: cronJob.Namespace, Name: cronJob.Name}
		return nil, errors.New(cmdutil.ErrorLine(call.Wrap(err)))
	}
	made := manifests.Instance(source, manifests.NewName(cronJob.Name))
	plan := &screen.RetryPlan{
		Name: made.GetName(), Summary: "It is the Job of the CronJob's template, started now instead of on the schedule.",
		Create: func(ctx context.Context) error { return r.create(ctx, made) },
	}
	if active, _, _ := unstructured.NestedSlice(source.Object, "status", "active"); len(active) > 0 {
		plan.Warnings = []string{"a Job of the CronJob is running, and concurrencyPolicy does not hold a Job that is created by hand"}
	}
	return &screen.Retryable{Plan: func(*indexset.Set) (*screen.RetryPlan, error) { return plan, nil }}, nil
}

// create creates the Job once, although the response may be lost. A request that was sent is not interrupted.
func (r runner) create(ctx context.Context, job *unstructured.Unstructured) error {
	r.creating.Lock()
	defer r.creating.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	jobs, err := cmdutil.NewJobsClient(r.config)
	if err != nil {
		return errors.New(cmdutil.ErrorLine(err))
	}
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTime)
	defer cancel()
	interrupt.Hold(sending)
	jobwrite.Mark(job, "")
	set := feed.JobSet{Client: jobs.Namespace(job.GetNamespace()), Namespace: job.GetNamespace()}
	_, err = jobwrite.New(set, metav1.CreateOptions{FieldManager: fieldManager}).CreateOnce(ctx, sending, job, nil)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		cmdutil.PrintError(r.out, err)
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return errors.New(cmdutil.ErrorLine(err))
}
