package endings

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
)

// OfPod returns the end of the pod from outside. Its status is the best source, then the condition DisruptionTarget, whose
// actor an event may name, then events.
func OfPod(p *input.Pod, events map[string]PodEnd) PodEnd {
	if w := statusEnding(p); w.Kind != "" {
		return w
	}
	event := events[p.Name]
	switch {
	case p.Disruption != "":
		w := OfDisruption(p.Disruption, p.DisruptionMessage)
		if event.Kind == w.Kind && (event.By != "" || w.Kind == explain.EndEvicted) {
			w.By, w.Message = event.By, event.Message
		}
		return w
	case event.Kind == explain.EndProbe, event.Kind == explain.EndPostStart:
		failed := func(c input.Container) bool {
			return c.Name == event.Container && c.Ended && !c.Before && c.ExitCode != 0
		}
		if slices.ContainsFunc(p.Containers, failed) {
			return event
		}
	case event.Kind != "" && event.Kind != explain.EndRejected && p.Deleting && !p.EndedBeforeDeletion():
		return event
	}
	return PodEnd{}
}

// statusEnds maps reasons that the kubelet writes into the status of a pod that it ends.
var statusEnds = map[string]explain.EndKind{
	"Evicted": explain.EndEvicted, "Preempting": explain.EndPreempted, "DeadlineExceeded": explain.EndPodDeadline,
	"NodeShutdown": explain.EndNodeShutdown, "Shutdown": explain.EndNodeShutdown,
}

// statusEnding returns the end that the kubelet wrote into the pod's status.
func statusEnding(p *input.Pod) PodEnd {
	if p.Phase != corev1.PodFailed {
		return PodEnd{}
	}
	message := strings.TrimSpace(p.Message)
	w := PodEnd{explain.Ending{Kind: statusEnds[p.StatusReason], By: explain.ByKubelet, Reason: p.StatusReason}, message}
	ran := !p.StartedAt.IsZero() || slices.ContainsFunc(p.Containers, func(c input.Container) bool { return c.Ended })
	switch {
	case p.StatusReason != "" && !ran && eventtext.IsRejection(p.StatusReason, message):
		w.Kind, w.Message = explain.EndRejected, strings.TrimPrefix(message, "Pod was rejected: ")
	case p.StatusReason == "Terminated" && strings.Contains(message, "node shutdown"):
		w.Kind = explain.EndNodeShutdown
	case w.Kind == "":
		return PodEnd{}
	}
	return w
}

// OfDisruption returns the end that the reason and the message of the condition DisruptionTarget describe.
func OfDisruption(reason, message string) PodEnd {
	w := PodEnd{explain.Ending{Reason: reason, Kind: explain.EndDisrupted}, strings.TrimSpace(message)}
	switch reason {
	case "EvictionByEvictionAPI":
		w.Kind, w.Message = explain.EndEvicted, strings.TrimPrefix(w.Message, "Eviction API: evicting")
	case "TerminationByKubelet":
		w.By = explain.ByKubelet
		if strings.HasPrefix(w.Message, "The node was low on resource") {
			w.Kind = explain.EndEvicted
		}
	case "PreemptionByScheduler":
		w.Kind, w.By = explain.EndPreempted, explain.ByScheduler
	case "DeletionByTaintManager":
		w.Kind = explain.EndTaint
	case "DeletionByPodGC":
		if w.Message == "" || strings.Contains(w.Message, "node no longer exists") { // An event has only the reason.
			w.Kind = explain.EndNodeGone
		}
	}
	return w
}
