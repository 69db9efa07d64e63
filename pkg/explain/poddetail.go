package explain

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// PodDetail adds to the PodInfo of one pod.
type PodDetail struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
	// Gone reports whether the pod no longer exists: the rest was read earlier, or comes from events.
	Gone       bool            `json:"gone,omitempty"`
	Node       string          `json:"node,omitempty"`
	Phase      string          `json:"phase,omitempty"`
	State      string          `json:"state,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Message    string          `json:"message,omitempty"`
	Created    *metav1.Time    `json:"created,omitempty"`
	Conditions []Condition     `json:"conditions,omitempty"`
	Containers []ContainerInfo `json:"containers,omitempty"`
	// Events are sorted by time.
	Events []PodEvent  `json:"events,omitempty"`
	Gaps   []input.Gap `json:"gaps,omitempty"`
}

// ContainerInfo describes one container. Init containers come first.
type ContainerInfo struct {
	Name  string `json:"name"`
	Init  bool   `json:"init,omitempty"`
	Image string `json:"image,omitempty"`
	Ready bool   `json:"ready,omitempty"`
	// Default reports whether kubectl uses this container if none is named.
	Default  bool  `json:"default,omitempty"`
	Restarts int32 `json:"restarts,omitempty"`
	// Now is the current run, and Before the run before the last restart.
	Now    ContainerRun  `json:"now"`
	Before *ContainerRun `json:"before,omitempty"`
}

// ContainerRun is one run of a container.
type ContainerRun struct {
	// State is Waiting, Running or Terminated; "" if it is unknown.
	State    string       `json:"state,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Message  string       `json:"message,omitempty"`
	ExitCode *int32       `json:"exitCode,omitempty"`
	Signal   string       `json:"signal,omitempty"`
	Started  *metav1.Time `json:"started,omitempty"`
	Ended    *metav1.Time `json:"ended,omitempty"`
}

// PodEvent is an event of the pod.
type PodEvent struct {
	First   metav1.Time `json:"first"`
	Last    metav1.Time `json:"last"`
	Count   int32       `json:"count"`
	Warning bool        `json:"warning,omitempty"`
	Reason  string      `json:"reason"`
	Message string      `json:"message,omitempty"`
	Source  string      `json:"source,omitempty"`
}

// PodDetailOf describes a pod that exists, with the events that are about it.
func PodDetailOf(pod *corev1.Pod, events []input.Event) PodDetail {
	known := input.PodOf(pod)
	d := PodDetail{
		Name: pod.Name, UID: string(pod.UID), Node: known.Node, Phase: string(known.Phase), State: known.State(),
		Reason: known.StatusReason, Message: known.Message, Created: TimeOf(known.CreatedAt),
		Containers: containerInfos(pod), Events: eventsOf(pod, events),
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		d.Conditions = append(d.Conditions, Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: input.CutText(c.Message), Since: TimeOf(c.LastTransitionTime.Time),
		})
	}
	return d
}

// defaultContainer is kubectl's annotation for the container to use if none is named.
const defaultContainer = "kubectl.kubernetes.io/default-container"

// containerInfos returns the containers in the order of the spec: init containers, containers, ephemeral containers.
func containerInfos(pod *corev1.Pod) []ContainerInfo {
	spec, status := &pod.Spec, &pod.Status
	var out []ContainerInfo
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		out = append(out, containerInfo(c.Name, c.Image, status.InitContainerStatuses))
		out[i].Init = true
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		out = append(out, containerInfo(c.Name, c.Image, status.ContainerStatuses))
	}
	for i := range spec.EphemeralContainers {
		c := &spec.EphemeralContainers[i]
		out = append(out, containerInfo(c.Name, c.Image, status.EphemeralContainerStatuses))
	}
	name := pod.Annotations[defaultContainer]
	meant := slices.IndexFunc(out, func(c ContainerInfo) bool { return c.Name == name && name != "" })
	if meant < 0 && len(spec.Containers) > 0 {
		meant = len(spec.InitContainers)
	}
	if meant >= 0 {
		out[meant].Default = true
	}
	return out
}

// containerInfo describes one container, with its status if it has one.
func containerInfo(name, image string, statuses []corev1.ContainerStatus) ContainerInfo {
	info := ContainerInfo{Name: name, Image: image}
	s := lists.First(statuses, func(s *corev1.ContainerStatus) bool { return s.Name == name })
	if s == nil {
		return info
	}
	info.Ready, info.Restarts, info.Now = s.Ready, s.RestartCount, runOf(&s.State)
	if s.LastTerminationState.Terminated != nil {
		before := runOf(&s.LastTerminationState)
		info.Before = &before
	}
	return info
}

func runOf(state *corev1.ContainerState) ContainerRun {
	switch {
	case state.Terminated != nil:
		end := state.Terminated
		return ContainerRun{
			State: "Terminated", Reason: end.Reason, Message: input.CutText(end.Message), ExitCode: ptr.To(end.ExitCode), Signal: cause.Signal(end.ExitCode),
			Started: TimeOf(input.KnownTime(end.StartedAt)), Ended: TimeOf(input.KnownTime(end.FinishedAt)),
		}
	case state.Running != nil:
		return ContainerRun{State: "Running", Started: TimeOf(input.KnownTime(state.Running.StartedAt))}
	case state.Waiting != nil:
		return ContainerRun{State: "Waiting", Reason: state.Waiting.Reason, Message: input.CutText(state.Waiting.Message)}
	}
	return ContainerRun{}
}

// eventsOf returns the events about the pod, without events about an earlier pod of the same name.
func eventsOf(pod *corev1.Pod, events []input.Event) []PodEvent {
	var out []PodEvent
	for i := range events {
		e := &events[i]
		if e.Pod != pod.Name || e.PodUID != "" && e.PodUID != pod.UID {
			continue
		}
		out = append(out, PodEvent{
			First: metav1.NewTime(e.First), Last: metav1.NewTime(e.Last), Count: max(e.Count, 1), Warning: e.Warning(),
			Reason: e.Reason, Message: input.CutText(e.Message), Source: e.Source,
		})
	}
	slices.SortFunc(out, func(x, y PodEvent) int {
		return cmp.Or(x.Last.Compare(y.Last.Time), x.First.Compare(y.First.Time), cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Message, y.Message),
			cmp.Compare(x.Source, y.Source), cmp.Compare(x.Count, y.Count), cmp.Compare(strconv.FormatBool(x.Warning), strconv.FormatBool(y.Warning)))
	})
	return out
}

// TimeOf converts a time, and returns nil for the zero time.
func TimeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}
