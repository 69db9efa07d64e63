package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

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
	// now is the time of the cluster.
	now func() time.Time
	// creating is held until a creation is complete or undone.
	creating sync.Mutex
}

func (r *retrier) client(namespace string) (*rerun.Client, error) {
	return rerun.NewIn(r.config, namespace, rerun.Options{FieldManager: fieldManager, Out: r.out, Now: r.now})
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
	create := func(ctx context.Context, plan *retry.Plan, replaces bool) error {
		return r.create(ctx, client, found, plan, replaces)
	}
	made := NewRetryable(found, create)
	if plan, err := found.Plan(retry.Request{Replace: made.Replaces}); err == nil {
		chosen, err := client.Choose(ctx, found, plan.Indexes, rerun.ByFailure{Memory: true})
		if err == nil && chosen.RanOut() { // Otherwise, the form offers no memory.
			made.PlanMemory = withMemory(client, found, chosen, create)
		}
	}
	return made, nil
}

// withMemory returns Retryable.PlanMemory for the failures that were chosen.
func withMemory(client *rerun.Client, found *rerun.Candidate, chosen *rerun.Chosen, create creation) func(*indexset.Set, string) (*screen.RetryPlan, error) {
	return func(indexes *indexset.Set, memory string) (*screen.RetryPlan, error) {
		by, err := retry.ParseMemoryRaise(memory)
		if err != nil {
			return nil, fmt.Errorf("--memory: %w", err)
		}
		more := *found
		more.Object = found.Object.DeepCopy()
		raised, err := chosen.RaiseUnchecked(more.Object, by)
		if err != nil {
			return nil, err
		}
		plan, err := NewRetryable(&more, func(ctx context.Context, plan *retry.Plan, replaces bool) error {
			if err := client.CheckRoom(ctx, plan.Object); err != nil {
				return err
			}
			return create(ctx, plan, replaces)
		}).Plan(indexes)
		if err != nil {
			return nil, err
		}
		plan.Summary = strings.Join(append([]string{plan.Summary}, raised.Lines()...), " ")
		for _, warning := range raised.Warnings() {
			plan.Warnings = append(plan.Warnings, strings.TrimPrefix(warning, "warning: "))
		}
		return plan, nil
	}
}

// creation creates a retry, which replaces a Job that has not finished.
type creation func(ctx context.Context, plan *retry.Plan, replaces bool) error

// NewRetryable returns a Retryable for a Job.
func NewRetryable(found *rerun.Candidate, create creation) *screen.Retryable {
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
