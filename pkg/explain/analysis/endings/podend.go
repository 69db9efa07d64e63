// Package endings finds out how pods were ended from outside their containers, by their status and by events, and what kept
// the pods of a Job from starting, or from ending, until its deadline. It does not depend on failures.
package endings

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
)

// PodEnd is the end of a pod from outside, and the message of the component that caused it.
type PodEnd struct {
	meaning.Ending
	Message string
}

// FromEvents returns the ends of pods that events show, by pod name: the latest event counts.
func FromEvents(in *facts.Facts) map[string]PodEnd {
	known := map[string]PodEnd{}
	probes := map[[2]string]string{}
	for i := range in.Events { // In the order of time.
		e := &in.Events[i]
		if probe, message := meaning.ProbeFailure(e.Reason, e.Message); probe != "" {
			probes[[2]string{e.Pod, probe}] = message
		}
		end, message := OfEvent(e)
		if end == nil {
			continue
		}
		if before := known[e.Pod]; before.Kind == end.Kind && message == "" && (end.Container == "" || before.Ending == *end) {
			continue // The earlier event is more specific.
		}
		known[e.Pod] = PodEnd{*end, message}
	}
	for pod, w := range known {
		if w.Kind == meaning.EndProbe {
			w.Message = probes[[2]string{pod, w.Probe}]
			known[pod] = w
		}
	}
	// Pods that no longer exist, like their node, and whose end no event explains.
	for i := range in.Events {
		e := &in.Events[i]
		if node := meaning.AssignedNode(e.Reason, e.Message); in.GoneNodes[node] == input.NodeRemoved && known[e.Pod].Kind == "" {
			known[e.Pod] = PodEnd{Ending: meaning.Ending{Kind: meaning.EndNodeGone}}
		}
	}
	return known
}

// Fits reports whether a pod with this end may have failed with f.
func (w PodEnd) Fits(f *cause.Failure) bool {
	switch w.Kind {
	case "":
		return false
	case meaning.EndProbe, meaning.EndPostStart:
		return f.Container == w.Container
	case meaning.EndRejected:
		return f.Container == "" && f.PodReason == w.Reason
	}
	return f.IsDeletion() || f.Condition == corev1.DisruptionTarget || f.PodReason == w.Reason
}

// IsRemoved reports whether only the removal of its node explains why a pod no longer exists.
func (w PodEnd) IsRemoved() bool { return w.Kind == meaning.EndNodeGone && w.Reason == "" }
