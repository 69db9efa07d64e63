package endings

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
)

// OfPod returns the end of the pod from outside. Its status is the best source, then the condition DisruptionTarget, whose
// actor an event may name, then events.
func OfPod(p *explain.Pod, events map[string]Witness) Witness {
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
		failed := func(c explain.Container) bool {
			return c.Name == event.Container && c.Ended && !c.Before && c.ExitCode != 0
		}
		if slices.ContainsFunc(p.Containers, failed) {
			return event
		}
	case event.Kind != "" && event.Kind != explain.EndRejected && p.Deleting && !p.EndedBeforeDeletion():
		return event
	}
	return Witness{}
}

// statusEnding returns the end that the kubelet wrote into the pod's status.
func statusEnding(p *explain.Pod) Witness {
	message := strings.TrimSpace(p.Message)
	w := Witness{explain.Ending{By: explain.ByKubelet, Reason: p.StatusReason}, message}
	switch {
	case p.Phase != corev1.PodFailed || p.StatusReason == "":
		return Witness{}
	case !ran(p) && eventtext.IsRejection(p.StatusReason, message):
		w.Kind, w.Message = explain.EndRejected, strings.TrimPrefix(message, "Pod was rejected: ")
	case p.StatusReason == "Evicted":
		w.Kind = explain.EndEvicted
	case p.StatusReason == "Preempting":
		w.Kind = explain.EndPreempted
	case p.StatusReason == "DeadlineExceeded":
		w.Kind = explain.EndPodDeadline
	case p.StatusReason == "Terminated" && strings.Contains(message, "node shutdown"), p.StatusReason == "NodeShutdown", p.StatusReason == "Shutdown":
		w.Kind = explain.EndNodeShutdown
	default:
		return Witness{}
	}
	return w
}

// ran reports whether a container of the pod has started.
func ran(p *explain.Pod) bool {
	return !p.StartedAt.IsZero() || slices.ContainsFunc(p.Containers, func(c explain.Container) bool { return c.Ended })
}

// OfDisruption returns the end that the reason and the message of the condition DisruptionTarget describe.
func OfDisruption(reason, message string) Witness {
	w := Witness{explain.Ending{Reason: reason, Kind: explain.EndDisrupted}, strings.TrimSpace(message)}
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
