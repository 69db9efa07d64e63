package screen

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Change is a change of a Job other than a retry.
type Change int

// The changes.
const (
	Suspend Change = iota
	Resume
	Delete
)

// Changer changes Jobs. Its methods send requests to the API server; their errors are for users.
type Changer interface {
	// IsAllowed reports whether the user may make a change in a namespace; false if that is unknown.
	IsAllowed(ctx context.Context, change Change, namespace string) bool
	// Apply makes a change to the Job with this UID. It fails if another Job has the name by now.
	Apply(ctx context.Context, change Change, job types.NamespacedName, uid string) error
}

// Retrier creates retries of Jobs. Its methods send requests to the API server; their errors are for users.
type Retrier interface {
	// IsAllowed reports whether the user may create retries in a namespace; false if that is unknown.
	IsAllowed(ctx context.Context, namespace string) bool
	Finder
}

// Finder finds what can run again: a Job with its retries, or a CronJob whose template can run now.
type Finder interface {
	Find(ctx context.Context, object types.NamespacedName) (*Retryable, error)
}

// Retryable is a Job or CronJob that can run again.
type Retryable struct {
	Indexed bool
	// Replaces is set for a Job that has not finished: it is deleted once the retry is created.
	Replaces bool
	// Plan plans a retry that runs these indexes, or with nil all missing indexes. It sends no requests.
	Plan func(indexes *indexset.Set) (*RetryPlan, error)
	// PlanMemory is Plan with more memory, such as x2, for the containers that ran out of it; nil if none did.
	PlanMemory func(indexes *indexset.Set, memory string) (*RetryPlan, error)
}

// RetryPlan is a retry that can be created.
type RetryPlan struct {
	// Name is the name of the new Job. Summary says what it runs, and Warnings what it lacks, in one sentence each.
	Name     string
	Summary  string
	Warnings []string
	Indexes  indexset.Set
	// Create creates the Job, and deletes the Job that it replaces. If it is interrupted, it leaves nothing, or a suspended
	// Job that the next retry removes.
	Create func(ctx context.Context) error
}
