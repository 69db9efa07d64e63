package live

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// Log reads the log in focus. It never calls the Source but to say that it has changed.
type Log interface {
	// Run reads until its context ends.
	Run(context.Context) error
	// SetPod takes what is known of the log's pod.
	SetPod(PodState)
	// Snapshot is the log as it is now, nil until there is something to show: the one of before if nothing in it has
	// changed.
	Snapshot() *snapshot.Log
}

// PodState is what is known of the pod that is open. The zero value is a pod that was not read yet.
type PodState struct {
	Pod  *corev1.Pod // nil if it is not there
	Node string      // of the pod that was read last
	Read bool        // it is known whether it exists
	Gap  string      // why it is not, or no longer, kept up with; "" if it is
}
