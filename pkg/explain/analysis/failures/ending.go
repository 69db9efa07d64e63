package failures

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// witness is what ended a pod, and what the component says that ended it.
type witness struct {
	explain.Ending
	message string
}

// witnesses are what events say about the ends of pods, by name: the latest counts.
func witnesses(in *facts.Facts) map[string]witness {
	var known map[string]witness
	probes := map[[2]string]string{}
	for i := range in.Events { // In the order of time.
		e := &in.Events[i]
		if probe, message := eventtext.ProbeFailure(e); probe != "" {
			probes[[2]string{e.Pod, probe}] = message
		}
		end, message := eventtext.EndingOf(e)
		if end == nil {
			continue
		}
		if known == nil {
			known = map[string]witness{}
		}
		if before := known[e.Pod]; before.Kind == end.Kind && message == "" && (end.Container == "" || before.Ending == *end) {
			continue // The earlier event says more.
		}
		known[e.Pod] = witness{*end, message}
	}
	for pod, w := range known {
		if w.Kind == explain.EndProbe {
			w.message = probes[[2]string{pod, w.Probe}]
			known[pod] = w
		}
	}
	return withRemovedNodes(in, known)
}

// withRemovedNodes adds pods that are gone like their node, and about whose end no event says more.
func withRemovedNodes(in *facts.Facts, known map[string]witness) map[string]witness {
	if len(in.GoneNodes) == 0 {
		return known
	}
	for i := range in.Events {
		e := &in.Events[i]
		if node := eventtext.AssignedNode(e); in.GoneNodes[node] == explain.NodeRemoved && known[e.Pod].Kind == "" {
			if known == nil {
				known = map[string]witness{}
			}
			known[e.Pod] = witness{Ending: explain.Ending{Kind: explain.EndNodeGone}}
		}
	}
	return known
}

// endings sets what ended the pods from outside their containers: their own status says so, or an event.
func endings(in *facts.Facts, all []Failure) {
	events := witnesses(in)
	known := map[Kind]*Kind{}
	for i := range all {
		f := &all[i]
		if f.Consequence || f.Stopped != "" {
			continue // The Job's controller deleted it.
		}
		w := endingOf(f.Pod, events)
		if w.Kind == "" {
			continue
		}
		kind := *f.Kind
		kind.Ending = w.Ending
		kind.Text = endingText(&kind)
		if known[kind] == nil {
			known[kind] = &kind
		}
		f.Kind, f.endMessage = known[kind], w.message
	}
}

// endingText is the text of a cause with an Ending.
func endingText(k *Kind) string {
	c := causeOf(&k.Cause, "")
	c.Ending = &k.Ending
	return words.EndingText(&c)
}

// endingOf is what ended the pod: its status is the best witness, then the condition DisruptionTarget, whose actor an
// event may name, then events.
func endingOf(p *explain.Pod, events map[string]witness) witness {
	if w := statusEnding(p); w.Kind != "" {
		return w
	}
	event := events[p.Name]
	switch {
	case p.Disruption != "":
		w := disruptionEnding(p)
		if event.Kind == w.Kind && (event.By != "" || w.Kind == explain.EndEvicted) {
			w.By, w.message = event.By, event.message
		}
		return w
	case event.Kind == explain.EndProbe, event.Kind == explain.EndPostStart:
		if hasFailedContainer(p, event.Container) {
			return event
		}
	case event.Kind != "" && event.Kind != explain.EndRejected && p.Deleting && !p.EndedBeforeDeletion():
		return event
	}
	return witness{}
}

// hasFailedContainer reports whether the last end of the container was a failure.
func hasFailedContainer(p *explain.Pod, name string) bool {
	return slices.ContainsFunc(p.Containers, func(c explain.Container) bool {
		return c.Name == name && c.Ended && !c.Before && c.ExitCode != 0
	})
}

// statusEnding is what the kubelet wrote into the pod's status.
func statusEnding(p *explain.Pod) witness {
	message := strings.TrimSpace(p.Message)
	w := witness{explain.Ending{By: explain.ByKubelet, Reason: p.StatusReason}, message}
	switch {
	case p.Phase != corev1.PodFailed || p.StatusReason == "":
		return witness{}
	case !ran(p) && eventtext.IsRejection(p.StatusReason, message):
		w.Kind, w.message = explain.EndRejected, strings.TrimPrefix(message, "Pod was rejected: ")
	case p.StatusReason == "Evicted":
		w.Kind = explain.EndEvicted
	case p.StatusReason == "Preempting":
		w.Kind = explain.EndPreempted
	case p.StatusReason == "DeadlineExceeded":
		w.Kind = explain.EndPodDeadline
	case p.StatusReason == "Terminated" && strings.Contains(message, "node shutdown"), p.StatusReason == "NodeShutdown", p.StatusReason == "Shutdown":
		w.Kind = explain.EndNodeShutdown
	default:
		return witness{}
	}
	return w
}

// ran reports whether a container of the pod has started.
func ran(p *explain.Pod) bool {
	return !p.StartedAt.IsZero() || slices.ContainsFunc(p.Containers, func(c explain.Container) bool { return c.Ended })
}

// disruptionEnding is what the condition DisruptionTarget says.
func disruptionEnding(p *explain.Pod) witness {
	w := witness{explain.Ending{Reason: p.Disruption, Kind: explain.EndDisrupted}, strings.TrimSpace(p.DisruptionMessage)}
	switch p.Disruption {
	case "EvictionByEvictionAPI":
		w.Kind, w.message = explain.EndEvicted, strings.TrimPrefix(w.message, "Eviction API: evicting")
	case "TerminationByKubelet":
		w.By = explain.ByKubelet
		if strings.HasPrefix(w.message, "The node was low on resource") {
			w.Kind = explain.EndEvicted
		}
	case "PreemptionByScheduler":
		w.Kind, w.By = explain.EndPreempted, explain.ByScheduler
	case "DeletionByTaintManager":
		w.Kind = explain.EndTaint
	case "DeletionByPodGC":
		if strings.Contains(w.message, "node no longer exists") {
			w.Kind = explain.EndNodeGone
		}
	}
	return w
}

// addEnding adds what ended pods that are gone to the cause that an event of the controller has: the event names one of
// the pods, and as many as it counts ended in the same way.
func addEnding(c *explain.Cause, of *cause.Failure, events map[string]witness) {
	if len(c.Pods) == 0 {
		return
	}
	w := events[c.Pods[0]]
	alike := int32(0)
	for _, other := range events {
		if other.Ending == w.Ending {
			alike++
		}
	}
	if w.fits(of) && alike >= c.Count {
		endWith(c, w.Ending, w.message)
	}
}

// fits reports whether a pod that ended so may have failed in this way.
func (w witness) fits(f *cause.Failure) bool {
	switch w.Kind {
	case "":
		return false
	case explain.EndProbe, explain.EndPostStart:
		return f.Container == w.Container
	case explain.EndRejected:
		return f.Container == "" && f.PodReason == w.Reason
	}
	return f.IsDeletion() || f.Condition == corev1.DisruptionTarget || f.PodReason == w.Reason
}
