package screen

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
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
