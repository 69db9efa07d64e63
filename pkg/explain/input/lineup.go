package input

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// Lineup lists all containers of a pod that has not ended, in the order in which they start: init containers and sidecars,
// then the other containers.
type Lineup []Member

// Member is a container of a Lineup.
type Member struct {
	// Container holds the last end of the container, or its waiting reason; Before is set if it runs or waits again.
	Container
	// Sidecar reports whether this is an init container with restartPolicy Always: the next container starts when it has
	// started, and it does not keep the pod from ending.
	Sidecar bool
	// Started reports whether the container runs and its startup probe, if any, has succeeded.
	Started bool
}

// lineupOf returns the Lineup of a pod. It is nil for most pods: pods that have ended, pods with one container that has not, and pods in
// which no container has ended and no init container is left.
func lineupOf(pod *corev1.Pod) Lineup {
	s := &pod.Status
	alone := len(s.InitContainerStatuses)+len(s.ContainerStatuses) < 2 && (len(s.ContainerStatuses) == 0 || s.ContainerStatuses[0].State.Terminated == nil)
	if s.Phase == corev1.PodSucceeded || s.Phase == corev1.PodFailed || alone || !hasHistory(pod) {
		return nil
	}
	always := map[string]bool{}
	out := make(Lineup, 0, len(s.InitContainerStatuses)+len(s.ContainerStatuses))
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		always[c.Name] = c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	}
	for _, name := range namesOf(pod.Spec.InitContainers, s.InitContainerStatuses) {
		out = out.appendStatus(name, s.InitContainerStatuses, true)
		out[len(out)-1].Sidecar = always[name]
	}
	for _, name := range namesOf(pod.Spec.Containers, s.ContainerStatuses) {
		out = out.appendStatus(name, s.ContainerStatuses, false)
	}
	return out
}

// namesOf returns the names of the containers in the order of the spec, as the kubelet sorts container statuses by name.
func namesOf(spec []corev1.Container, statuses []corev1.ContainerStatus) []string {
	names := make([]string, 0, len(statuses))
	for i := range spec {
		names = append(names, spec[i].Name)
	}
	for i := range statuses {
		if !slices.Contains(names, statuses[i].Name) {
			names = append(names, statuses[i].Name)
		}
	}
	return names
}

// hasHistory reports whether a container has ended, or an init container other than a started sidecar runs.
func hasHistory(pod *corev1.Pod) bool {
	ended := func(s corev1.ContainerStatus) bool {
		return s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
	}
	if slices.ContainsFunc(pod.Status.ContainerStatuses, ended) {
		return true
	}
	return slices.ContainsFunc(pod.Status.InitContainerStatuses, func(s corev1.ContainerStatus) bool {
		restarted := s.LastTerminationState.Terminated != nil
		return restarted || s.State.Running != nil && (!s.Ready || pod.Status.Phase == corev1.PodPending)
	})
}

func (l Lineup) appendStatus(name string, all []corev1.ContainerStatus, init bool) Lineup {
	s := lists.First(all, func(s *corev1.ContainerStatus) bool { return s.Name == name })
	if s == nil {
		return append(l, Member{Container: Container{Name: shared(name), Init: init}})
	}
	c, _ := containerOf(s, init)
	return append(l, Member{Container: c, Started: c.Running && (s.Ready || s.Started != nil && *s.Started)})
}

// isDone reports whether the containers after an init container may start.
func (m *Member) isDone() bool {
	if m.Sidecar {
		return m.Started
	}
	return m.Ended && !m.Before && m.ExitCode == 0
}

// HasEnded reports whether the container has ended and was not restarted.
func (m *Member) HasEnded() bool { return m.Ended && !m.Before }

// Starting returns the init container or sidecar that the next containers wait for, with its 1-based position among the init
// containers, and their number; nil if none is left.
func (l Lineup) Starting() (m *Member, place, of int32) {
	for i := range l {
		if !l[i].Init {
			continue
		}
		if of++; m == nil && !l[i].isDone() {
			m, place = &l[i], of
		}
	}
	return m, place, of
}

// Names returns the names of the containers, other than init containers, for which has returns true.
func (l Lineup) Names(has func(m *Member) bool) []string {
	var names []string
	for i := range l {
		if !l[i].Init && has(&l[i]) {
			names = append(names, l[i].Name)
		}
	}
	return names
}

// Running returns the names of the running containers, without init containers.
func (l Lineup) Running() []string { return l.Names(func(m *Member) bool { return m.Running }) }

// Sidecars returns the names of the running sidecars.
func (l Lineup) Sidecars() []string {
	var names []string
	for i := range l {
		if l[i].Sidecar && l[i].Running {
			names = append(names, l[i].Name)
		}
	}
	return names
}

// Named returns the container of that name, or nil.
func (l Lineup) Named(name string) *Member {
	return lists.First(l, func(m *Member) bool { return m.Name == name })
}
