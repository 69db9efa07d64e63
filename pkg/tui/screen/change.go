package screen

import (
	"context"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// Change is what can be done to a Job, other than to retry it.
type Change int

// The changes.
const (
	Suspend Change = iota
	Resume
	Delete
)

// Changer changes Jobs. Its methods make requests to the API server; their errors are for users.
type Changer interface {
	// IsAllowed reports whether the user may make a change in a namespace; false if that is not known.
	IsAllowed(ctx context.Context, change Change, namespace string) bool
	// Apply makes a change to the Job with this UID. It is an error if the name is another Job's by now.
	Apply(ctx context.Context, change Change, job snapshot.JobKey, uid string) error
}
