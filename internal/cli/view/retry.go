package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// retrier creates retries for the view.
type retrier struct {
	config *rest.Config
	// out is for what has no place in the view, once that has ended.
	out io.Writer
	// creating is held until a creation is done or undone.
	creating sync.Mutex
}

func (r *retrier) client(namespace string) (*rerun.Client, error) {
	return rerun.NewIn(r.config, namespace, rerun.Options{FieldManager: "kubectl-batchjob", Out: r.out})
}

func (r *retrier) IsAllowed(ctx context.Context, namespace string) bool {
	client, err := r.client(namespace)
	return err == nil && client.IsAllowed(ctx)
}

func (r *retrier) Find(ctx context.Context, job snapshot.JobKey) (screen.Retryable, error) {
	client, err := r.client(job.Namespace)
	if err != nil {
		return nil, cmdutil.ExplainError(err)
	}
	found, err := client.Find(ctx, rerun.Target{Name: job.Name})
	if err != nil {
		return nil, cmdutil.ExplainError(err)
	}
	return &retryable{retrier: r, client: client, found: found}, nil
}

// wait returns once no creation is under way. It is for the end of the view, which interrupts it.
func (r *retrier) wait() {
	r.creating.Lock()
	defer r.creating.Unlock()
}

// retryable is a Job that was found.
type retryable struct {
	*retrier
	client *rerun.Client
	found  *rerun.Found
}

func (f *retryable) IsIndexed() bool { return jobspec.IsIndexed(&f.found.Job.Spec) }

func (f *retryable) Plan(indexes *indexset.Set) (*screen.RetryPlan, error) {
	return f.shown(f.found.Plan(retry.Request{Indexes: indexes}))
}

func (f *retryable) PlanFailedOnly(ctx context.Context) (*screen.RetryPlan, error) {
	return f.shown(f.client.Plan(ctx, f.found, retry.Request{FailedOnly: true}))
}

// shown is what the form shows of a plan.
func (f *retryable) shown(plan *retry.Retry, err error) (*screen.RetryPlan, error) {
	if err != nil {
		return nil, cmdutil.ExplainError(err)
	}
	shown := &screen.RetryPlan{
		Name: plan.Object.GetName(), Summary: rerun.RunsText(plan), Indexes: plan.Indexes, Count: plan.Pods,
		Create: func(ctx context.Context) error { return f.create(ctx, plan) },
	}
	for _, dropped := range plan.Dropped {
		shown.Warnings = append(shown.Warnings, rerun.DroppedText(dropped))
	}
	return shown, nil
}

// create prints the result as well if it was interrupted: the view may have ended before.
func (f *retryable) create(ctx context.Context, plan *retry.Retry) error {
	f.creating.Lock()
	defer f.creating.Unlock()
	made, err := f.client.Create(ctx, f.found, plan)
	if ctx.Err() != nil {
		cmdutil.PrintError(f.out, err)
	}
	switch {
	case err == nil && ctx.Err() != nil:
		fmt.Fprintf(f.out, "job.batch/%s created\n", sanitize.Line(made.GetName()))
		return nil
	case err == nil, errors.Is(err, context.Canceled) && len(cmdutil.Flatten(err)) == 1:
		return err
	}
	return errors.New(cmdutil.ErrorLine(err)) // An interruption that left something is more than an interruption.
}
