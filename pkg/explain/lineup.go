package explain

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Lineup has all containers of a pod that has not ended, in the order in which they start: init containers and sidecars,
// then the others.
type Lineup []Member

// Member is a container of a Lineup.
type Member struct {
	// Container says how it ended, or what it waits for; Before is set if it runs or waits again.
	Container
	// Sidecar reports whether it is an init container with restartPolicy Always: the next container starts when it has
	// started, and it does not keep the pod from ending.
	Sidecar bool
	// Running reports whether it runs, since RunsSince.
	Running   bool
	RunsSince time.Time
	// Started reports whether it runs and its startup probe, if it has one, has succeeded.
	Started bool
}

// lineupOf is nil for most pods: those that have ended, those with one container, and those of which no container has ended
// and no init container is left.
func lineupOf(pod *corev1.Pod) Lineup {
	s := &pod.Status
	if s.Phase == corev1.PodSucceeded || s.Phase == corev1.PodFailed || len(s.InitContainerStatuses)+len(s.ContainerStatuses) < 2 || !hasHistory(pod) {
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

// namesOf are those of the containers in the order of the spec: a kubelet sorts the statuses of containers by name.
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

// hasHistory reports whether a container has ended, or an init container runs that is no sidecar that has started.
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
	i := slices.IndexFunc(all, func(s corev1.ContainerStatus) bool { return s.Name == name })
	if i < 0 {
		return append(l, Member{Container: Container{Name: shared(name), Init: init}})
	}
	c, _ := containerOf(&all[i], init)
	m := Member{Container: c}
	if run := all[i].State.Running; run != nil {
		m.Running, m.RunsSince, m.Started = true, known(run.StartedAt), all[i].Ready || all[i].Started != nil && *all[i].Started
	}
	return append(l, m)
}

// isDone reports whether the containers after an init container may start.
func (m *Member) isDone() bool {
	if m.Sidecar {
		return m.Started
	}
	return m.Ended && !m.Before && m.ExitCode == 0
}

// HasEnded reports whether the container has ended and was not started again.
func (m *Member) HasEnded() bool { return m.Ended && !m.Before }

// Starting is the init container or sidecar that the next containers wait for, with its place among the init containers,
// from 1, and their number; nil if none is left.
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

// Names are those of the containers that are no init containers, if they have a property.
func (l Lineup) Names(has func(m *Member) bool) []string {
	var names []string
	for i := range l {
		if !l[i].Init && has(&l[i]) {
			names = append(names, l[i].Name)
		}
	}
	return names
}

// Running are the containers that run, and are no init containers.
func (l Lineup) Running() []string { return l.Names(func(m *Member) bool { return m.Running }) }

// Sidecars are the sidecars that run.
func (l Lineup) Sidecars() []string {
	var names []string
	for i := range l {
		if l[i].Sidecar && l[i].Running {
			names = append(names, l[i].Name)
		}
	}
	return names
}

// Named is the container of that name, or nil.
func (l Lineup) Named(name string) *Member {
	i := slices.IndexFunc(l, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &l[i]
}
