package endings

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"

	corev1 "k8s.io/api/core/v1"
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
		if event.Kind == w.Kind && (event.By != "" || w.Kind == meaning.EndEvicted) {
			w.By, w.Message = event.By, event.Message
		}
		return w
	case event.Kind == meaning.EndProbe, event.Kind == meaning.EndPostStart:
		failed := func(c input.Container) bool {
			return c.Name == event.Container && c.Ended && !c.Before && c.ExitCode != 0
		}
		if slices.ContainsFunc(p.Containers, failed) {
			return event
		}
	case event.Kind != "" && event.Kind != meaning.EndRejected && p.Deleting && !p.EndedBeforeDeletion():
		return event
	}
	return PodEnd{}
}

// statusEnding returns the end that the kubelet wrote into the pod's status.
func statusEnding(p *input.Pod) PodEnd {
	if p.Phase != corev1.PodFailed {
		return PodEnd{}
	}
	ran := !p.StartedAt.IsZero() || slices.ContainsFunc(p.Containers, func(c input.Container) bool { return c.Ended })
	return podEnd(meaning.OfStatus(p.StatusReason, p.Message, ran))
}

// OfDisruption returns the end that the reason and the message of the condition DisruptionTarget describe.
func OfDisruption(reason, message string) PodEnd {
	return podEnd(meaning.OfDisruption(reason, message))
}

func podEnd(e meaning.Ending, message string) PodEnd { return PodEnd{e, message} }

// OfEvent returns the reason that the event gives for the end of its pod, and a message, which may be ""; nil if it gives none.
func OfEvent(e *input.Event) (*meaning.Ending, string) {
	if e.Pod == "" {
		return nil, ""
	}
	return meaning.OfEnd(e.Source, e.Reason, e.Message, e.Container)
}

// RestartedByProbe returns the probe for which the kubelet killed and restarted a container of the pod, with the last output
// of the probe; nil if no event shows that. events must be sorted by time.
func RestartedByProbe(events []input.Event, pod, container string) (*meaning.Ending, string) {
	var end *meaning.Ending
	outputs := map[string]string{}
	for i := range events {
		e := &events[i]
		if e.Pod != pod {
			continue
		}
		if probe, output := meaning.ProbeFailure(e.Reason, e.Message); probe != "" {
			outputs[probe] = output
		}
		if restart := meaning.OfProbeRestart(e.Reason, e.Message); restart != nil && restart.Container == container {
			end = restart
		}
	}
	if end == nil {
		return nil, ""
	}
	return end, outputs[end.Probe]
}
