package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
)

// fieldManager is the field manager of the view's writes.
const fieldManager = "kubectl-batchjob"

// retrier creates retries for the view.
type retrier struct {
	config *rest.Config
	// out receives messages that cannot be shown in the view, once it has ended.
	out io.Writer
	// creating is held until a creation is complete or undone.
	creating sync.Mutex
}

func (r *retrier) client(namespace string) (*rerun.Client, error) {
	return rerun.NewIn(r.config, namespace, rerun.Options{FieldManager: fieldManager, Out: r.out})
}

func (r *retrier) IsAllowed(ctx context.Context, namespace string) bool {
	client, err := r.client(namespace)
	return err == nil && client.IsAllowed(ctx)
}

func (r *retrier) Find(ctx context.Context, job types.NamespacedName) (*screen.Retryable, error) {
	client, err := r.client(job.Namespace)
	if err != nil {
		return nil, err
	}
	found, err := client.Find(ctx, rerun.Target{Name: job.Name})
	if err != nil {
		return nil, cmdutil.ExplainError(err)
	}
	return NewRetryable(found, func(ctx context.Context, plan *retry.Plan, replaces bool) error {
		return r.create(ctx, client, found, plan, replaces)
	}), nil
}

// NewRetryable returns a Retryable for a Job. create creates a retry, which replaces a Job that has not finished.
func NewRetryable(found *rerun.Candidate, create func(ctx context.Context, plan *retry.Plan, replaces bool) error) *screen.Retryable {
	replaces := !reconcile.IsFinished(found.Job)
	return &screen.Retryable{Indexed: jobspec.IsIndexed(&found.Job.Spec), Replaces: replaces, Plan: func(indexes *indexset.Set) (*screen.RetryPlan, error) {
		plan, err := found.Plan(retry.Request{Indexes: indexes, Replace: replaces})
		if err != nil {
			return nil, err
		}
		shown := &screen.RetryPlan{Name: plan.Object.GetName(), Summary: rerun.RunsText(plan), Indexes: plan.Indexes}
		for _, dropped := range plan.Dropped {
			shown.Warnings = append(shown.Warnings, rerun.DroppedText(dropped))
		}
		shown.Create = func(ctx context.Context) error { return create(ctx, plan, replaces) }
		return shown, nil
	}}
}

// create also prints the result if it was interrupted: the view may have ended before.
func (r *retrier) create(ctx context.Context, client *rerun.Client, found *rerun.Candidate, plan *retry.Plan, replaces bool) error {
	r.creating.Lock()
	defer r.creating.Unlock()
	create := client.Create
	if replaces {
		create = client.Replace
	}
	made, err := create(ctx, found, plan)
	if ctx.Err() != nil {
		cmdutil.PrintError(r.out, err)
		if err == nil {
			fmt.Fprintf(r.out, "job.batch/%s created\n", sanitize.Line(made.GetName()))
		}
	}
	if err == nil || errors.Is(err, context.Canceled) && len(cmdutil.Flatten(err)) == 1 {
		return err
	}
	return errors.New(cmdutil.ErrorLine(err)) // An interruption that leaves a Job behind is reported as an error.
}

// wait returns once no creation is in progress. It is called at the end of the view, which interrupts a creation.
func (r *retrier) wait() {
	r.creating.Lock()
	defer r.creating.Unlock()
}
