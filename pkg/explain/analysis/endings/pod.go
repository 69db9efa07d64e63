// Package endings finds out how pods were ended from outside their containers, by their status and by events, and what kept
// the pods of a Job from starting, or from ending, until its deadline. It does not depend on failures.
package endings

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
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
	case p.EndedBy != nil && !slices.ContainsFunc(p.Containers, func(c input.Container) bool { return c.Ended }):
		return podEnd(meaning.OfCondition(p.EndedBy.Type, p.EndedBy.Reason, p.EndedBy.Message))
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

// LastOfProbe returns the last output of a probe of the pod, "" if no event has one. events must be sorted by time.
func LastOfProbe(events []input.Event, pod, probe string) (last string) {
	for i := range events {
		if of, output := meaning.ProbeFailure(events[i].Reason, events[i].Message); events[i].Pod == pod && of == probe {
			last = output
		}
	}
	return last
}

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
	case meaning.EndMarked:
		return f.Container == ""
	case meaning.EndRejected:
		return f.Container == "" && f.PodReason == w.Reason
	}
	return f.IsDeletion() || f.Condition == corev1.DisruptionTarget || f.PodReason == w.Reason
}

// IsRemoved reports whether only the removal of its node explains why a pod no longer exists.
func (w PodEnd) IsRemoved() bool { return w.Kind == meaning.EndNodeGone && w.Reason == "" }
