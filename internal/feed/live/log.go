package live

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// Log reads the log in focus. The only call it makes to the Source is to report a change.
type Log interface {
	// Run reads until ctx is done.
	Run(context.Context) error
	// SetPod updates the state of the log's pod.
	SetPod(PodState)
	// Snapshot returns the current log, nil until there is something to show, and the previous value if nothing has changed.
	Snapshot() *snapshot.Log
}

// PodState is the state of the open pod. In the zero value, the pod was not read yet.
type PodState struct {
	Pod  *corev1.Pod // nil if it does not exist
	Node string      // the node of the last pod that was read
	Read bool        // whether it is known if the pod exists
	Gap  string      // why the state is missing or out of date; "" if it is current
}
