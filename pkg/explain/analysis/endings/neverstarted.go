package endings

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// NeverStarted is the reason why no pod of a Job ever started a container.
type NeverStarted struct {
	// Pod is one of the pods, and Problem the obstacle to its start: from its container, its condition, or the latest
	// warning about it.
	Pod     string
	Problem explain.Problem
}

// whyWaits returns the obstacle to a pod's start, by the reason and message of its container, its condition or a warning.
func whyWaits(pod, container, reason, message string) *NeverStarted {
	p := explain.Problem{Kind: explain.ProblemPodPending, Container: container, Start: explain.Start{Reason: reason}}
	if message != "" {
		p.Details = []string{message}
	}
	probe, output := meaning.ProbeFailure(reason, message)
	switch image := meaning.FailedImage(message); {
	case probe == "startup":
		p.Kind, p.Role.Probed, p.Run.ProbeMessage = explain.ProblemSidecarNotStarted, true, output
	case reason == corev1.PodReasonUnschedulable, reason == "FailedScheduling":
		p.Kind, p.Scheduling.Unfit = explain.ProblemUnschedulable, meaning.UnfitsOf(message)
	case reason == explain.Pulling:
		p.Image = meaning.PulledImage(message)
	case image != "":
		p.Kind, p.Image, p.Start.Trouble = explain.ProblemImagePull, image, cmp.Or(meaning.OfImage(reason, message), &meaning.Trouble{Kind: meaning.Unexplained})
	default:
		message = strings.TrimPrefix(message, "Error: ") // of the event about a container that cannot be created
		p.Start.Trouble, p.Start.Error = cmp.Or(meaning.OfStart(reason, message), meaning.OfContainer(message)), meaning.StartErrorIn(message)
	}
	return &NeverStarted{Pod: pod, Problem: p}
}

// WhyNeverStarted explains why no pod of a Job that passed its deadline ever started, or was created. It returns nil if a pod may have
// started: all pods must be known, and a pod that no longer exists must have a warning about its start and no event of a
// started container.
func WhyNeverStarted(in *facts.Facts) *NeverStarted {
	status, refused := &in.Job.Status, in.LastJobEvent("FailedCreate")
	switch {
	case in.Decision.EndedBy != explain.EndedByDeadline || status.Succeeded > 0:
		return nil
	case status.Failed == 0 && refused != nil && in.PodsRead && len(in.Pods) == 0 && in.LastJobEvent("SuccessfulCreate") == nil:
		return &NeverStarted{Problem: explain.Problem{Kind: explain.ProblemCreationRefused, Refusal: facts.RefusalIn(in, refused), Details: []string{refused.Message}}}
	case status.Failed == 0:
		return nil
	}
	warnings, started := eventsOfStart(in)
	known, all := unstartedPods(in, warnings, started)
	if !all || int32(len(known)) < status.Failed+status.Active {
		return nil
	}

	// The reason that a pod shows, or else the first of the warnings.
	for _, p := range in.Pods {
		if why := whyPending(p); why != nil {
			return why.of(in, in.Decision.Since)
		}
	}
	for i := range in.Events {
		if e := &in.Events[i]; known[e.Pod] && warnings[e.Pod] == e {
			return whyWaits(e.Pod, e.Container, e.Reason, e.Message).of(in, e.Last)
		}
	}
	return nil
}

// of adds what the Job shows about the obstacle, and when it was seen: an object that was missing may exist by now.
func (n *NeverStarted) of(in *facts.Facts, seen time.Time) *NeverStarted {
	p := &n.Problem
	p.Role.Init, p.Role.Later = in.IsInit(p.Container), in.MainContainers()
	if p.Start.Trouble == nil {
		return n
	}
	if p.Start.Trouble.Pod = facts.WhereOf(in, p.Image); p.Start.Trouble.IsAboutObject() {
		p.Start.Trouble.SeenAt = seen
	}
	for i := range in.Events {
		if e := &in.Events[i]; e.Pod == n.Pod {
			w := &p.Start.Trouble.Pod
			w.Node = cmp.Or(meaning.AssignedNode(e.Reason, e.Message), w.Node)
		}
	}
	return n
}

// unstartedPods returns the names of pods that never started. all is false if a pod may have started, if a pod that no longer
// exists has no warning, or if pods or events could not be read.
func unstartedPods(in *facts.Facts, warnings map[string]*input.Event, started map[string]bool) (known map[string]bool, all bool) {
	known = map[string]bool{}
	for _, p := range in.Pods {
		known[p.Name] = true
		if started[p.Name] || hasStarted(p) {
			return nil, false
		}
	}
	for i := range in.Events {
		e := &in.Events[i]
		name, created := strings.CutPrefix(e.Message, "Created pod: ")
		if !created || e.Pod != "" || e.Reason != "SuccessfulCreate" || known[name] {
			continue
		}
		if known[name] = true; started[name] || warnings[name] == nil {
			return nil, false
		}
	}
	return known, in.PodsRead && in.EventsRead
}

// eventsOfStart returns the latest warning of each pod, and the pods in which a kubelet has started a container.
func eventsOfStart(in *facts.Facts) (warnings map[string]*input.Event, started map[string]bool) {
	warnings, started = map[string]*input.Event{}, map[string]bool{}
	for i := range in.Events { // In the order of time.
		e := &in.Events[i]
		_, ran := meaning.OfRestart(e.Reason, e.Message)
		switch {
		case e.Pod == "":
		case e.Reason == "Started" && in.IsInit(e.Container): // The other containers wait for it.
			delete(warnings, e.Pod)
		case e.Reason == "Started", ran:
			started[e.Pod] = true
		case e.Reason == explain.Pulling && warnings[e.Pod] == nil:
			warnings[e.Pod] = e
		case e.Reason == "Pulled" && warnings[e.Pod] != nil && warnings[e.Pod].Reason == explain.Pulling:
			delete(warnings, e.Pod)
		case (e.Warning() || meaning.FailedImage(e.Message) != "") && !e.IsAboutNodeSetup() && (warnings[e.Pod] == nil || meaning.GivesReason(e.Source, e.Reason, e.Message)):
			warnings[e.Pod] = e
		}
	}
	return warnings, started
}

// LoopedAtDeadline returns the container that the kubelet restarted again and again until shortly before the Job passed its
// deadline, with its pod; "" if there is none.
func LoopedAtDeadline(in *facts.Facts) (container, pod string) {
	for i := len(in.Events) - 1; i >= 0; i-- { // In the order of time.
		e := &in.Events[i]
		if name, is := meaning.OfRestart(e.Reason, e.Message); is && in.Decision.Since.Sub(e.Last) < backoffMost {
			return name, e.Pod
		}
	}
	return "", ""
}

// backoffMost is the kubelet's longest wait before a restart.
const backoffMost = 5 * time.Minute

// hasStarted reports whether a container of the pod has started, or may have.
func hasStarted(p *input.Pod) bool {
	if !p.StartedAt.IsZero() || p.Phase == corev1.PodRunning {
		return true
	}
	return slices.ContainsFunc(p.Containers, func(c input.Container) bool { return c.Restarts > 0 || c.Ended && !c.NeverStarted() })
}

// whyPending returns the reason for not starting that the pod itself shows, nil if it shows none.
func whyPending(p *input.Pod) *NeverStarted {
	if p.Unschedulable != "" && p.Node == "" {
		return whyWaits(p.Name, "", corev1.PodReasonUnschedulable, p.Unschedulable)
	}
	if c := lists.First(p.Containers, (*input.Container).ExplainsWait); c != nil {
		return whyWaits(p.Name, c.Name, c.Waiting, c.WaitingMessage)
	}
	return nil
}
