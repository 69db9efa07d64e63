package screen

import (
	"context"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// Retrier creates retries of Jobs. Its methods make requests to the API server; their errors are for users.
type Retrier interface {
	// IsAllowed reports whether the user may create retries in a namespace; false if that is not known.
	IsAllowed(ctx context.Context, namespace string) bool
	// Find reads a Job and its retries.
	Find(ctx context.Context, job snapshot.JobKey) (*Retryable, error)
}

// Retryable is a Job to retry, as it was read.
type Retryable struct {
	Indexed bool
	// Replaces is set for a Job that has not finished: once the retry is created, it is deleted.
	Replaces bool
	// Plan plans a retry that runs these indexes, or with nil all that is missing. It makes no requests.
	Plan func(indexes *indexset.Set) (*RetryPlan, error)
}

// RetryPlan is a retry that can be created.
type RetryPlan struct {
	// Name is that of the new Job. Summary is what it runs, Warnings what it lacks, each in a sentence.
	Name     string
	Summary  string
	Warnings []string
	Indexes  indexset.Set
	// Create creates the Job, and deletes the one that it replaces. Interrupted, it leaves nothing, or a suspended Job that the next retry removes.
	Create func(ctx context.Context) error
}
