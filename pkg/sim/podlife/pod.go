package podlife

import (
	"iter"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Pod is a pod on a node.
type Pod struct {
	runs      Runs
	init, app []container
	restarts  bool      // whether failed containers are restarted
	deadline  time.Time // zero for none
	phase     corev1.PodPhase
	expired   bool
	eviction  []corev1.PodCondition
}

// Start starts the first containers of a pod.
func Start(spec *corev1.PodSpec, now time.Time, runs Runs) *Pod {
	p := &Pod{runs: runs, phase: corev1.PodPending, restarts: spec.RestartPolicy != corev1.RestartPolicyNever}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		p.init = append(p.init, container{name: c.Name, sidecar: ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways})
	}
	for i := range spec.Containers {
		p.app = append(p.app, container{name: spec.Containers[i].Name})
	}
	if limit := spec.ActiveDeadlineSeconds; limit != nil {
		p.deadline = now.Add(time.Duration(*limit) * time.Second)
	}
	p.proceed(now)
	p.Advance(now, false)
	return p
}

// Next returns the time of the next change; false if there is none.
func (p *Pod) Next() (next time.Time, found bool) {
	if p.hasEnded() {
		return time.Time{}, false
	}
	next = p.deadline
	for c := range p.containers() {
		if !c.until.IsZero() && (next.IsZero() || c.until.Before(next)) {
			next = c.until
		}
	}
	return next, !next.IsZero()
}

// Advance makes all changes until now, and reports whether the status that SetStatus would set has changed. Containers
// of a terminating pod are not restarted.
func (p *Pod) Advance(now time.Time, terminating bool) bool {
	was := p.shown()
	for {
		at, found := p.Next()
		if !found || at.After(now) {
			return p.shown() != was
		}
		p.step(at, terminating)
	}
}

// step makes the changes of one point in time: the end of the pod comes first.
func (p *Pod) step(now time.Time, terminating bool) {
	p.exitDue(p.app, now) // Sidecars that exit at the same time do not count.
	if p.endIfDone(now, terminating) {
		return
	}
	p.exitDue(p.init, now)
	if p.endIfDone(now, terminating) {
		return
	}
	if !p.deadline.IsZero() && !p.deadline.After(now) {
		p.expired = true
		p.Kill(now, killed)
		return
	}
	for c := range p.containers() {
		switch {
		case c.state == exited && p.isRestarted(c, terminating):
			c.again(now, p.runs)
		case c.state == backingOff && c.isDue(now):
			c.restart(now, p.runs)
		}
	}
	p.proceed(now)
}

// exitDue ends the runs that are due.
func (p *Pod) exitDue(list []container, now time.Time) {
	for i := range list {
		c := &list[i]
		if c.state != running || !c.isDue(now) {
			continue
		}
		c.exit(now, c.run.Exit, c.run.Reason)
		if c.run.Exit != 0 && len(c.run.Evicted) > 0 {
			p.eviction = c.run.Evicted
		}
	}
}

// containers returns all containers of the pod.
func (p *Pod) containers() iter.Seq[*container] {
	return func(yield func(*container) bool) {
		for _, list := range [...][]container{p.app, p.init} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// killed is the exit code of a container that the kubelet kills.
const killed = 143

func (p *Pod) isRestarted(c *container, terminating bool) bool {
	return !terminating && (c.sidecar || p.restarts && c.end.ExitCode != 0)
}

// proceed starts the init containers that are next, or else the other containers.
func (p *Pod) proceed(now time.Time) {
	for i := range p.init {
		c := &p.init[i]
		if c.state == unstarted {
			c.start(now, p.runs)
		}
		if !c.sidecar && (c.state != exited || c.end.ExitCode != 0) {
			return
		}
	}
	for i := range p.app {
		if c := &p.app[i]; c.state == unstarted {
			c.start(now, p.runs)
		}
	}
	p.phase = corev1.PodRunning
}

// endIfDone ends the pod if it was evicted, if an init container failed for good, or if all other containers have
// ended.
func (p *Pod) endIfDone(now time.Time, terminating bool) bool {
	done := p.eviction != nil
	for i := range p.init {
		c := &p.init[i]
		done = done || !c.sidecar && c.state == exited && c.end.ExitCode != 0 && !p.isRestarted(c, terminating)
	}
	if p.phase == corev1.PodRunning {
		ended := true
		for i := range p.app {
			ended = ended && p.app[i].state == exited && !p.isRestarted(&p.app[i], terminating)
		}
		done = done || ended
	}
	if done {
		p.Kill(now, killed)
	}
	return done
}

// Kill ends all running containers, with this exit code, but sidecars with the exit code of their run. A container that
// waits for a restart keeps its last exit.
func (p *Pod) Kill(now time.Time, exit int32) {
	if p.hasEnded() {
		return
	}
	failed := p.expired || p.eviction != nil || p.phase == corev1.PodPending
	for c := range p.containers() {
		c.kill(now, exit)
	}
	for i := range p.app {
		failed = failed || p.app[i].end != nil && p.app[i].end.ExitCode != 0
	}
	p.phase = corev1.PodSucceeded
	if failed {
		p.phase = corev1.PodFailed
	}
}

func (p *Pod) hasEnded() bool { return p.phase == corev1.PodSucceeded || p.phase == corev1.PodFailed }

// shown is the part of a pod whose change requires a new status.
type shown struct {
	phase              corev1.PodPhase
	ready              bool
	restarts, waitings int32
}

func (p *Pod) shown() shown {
	s := shown{phase: p.phase, ready: p.IsReady()}
	for c := range p.containers() {
		s.restarts += c.restarts
		if c.state == backingOff {
			s.waitings++
		}
	}
	return s
}

// IsReady reports whether all containers except init containers are running.
func (p *Pod) IsReady() bool {
	for i := range p.app {
		if p.app[i].state != running {
			return false
		}
	}
	return true
}

// Eviction returns the conditions of an evicted pod, none for other pods.
func (p *Pod) Eviction() []corev1.PodCondition { return p.eviction }

// Phase returns the phase of the pod.
func (p *Pod) Phase() corev1.PodPhase { return p.phase }

// SetStatus sets the phase, the reason and the containers of a status, as the kubelet reports them. Containers of a pod
// that has not ended are reported once a container has been restarted or is backing off.
func (p *Pod) SetStatus(status *corev1.PodStatus) {
	status.Phase = p.phase
	if p.expired {
		status.Reason, status.Message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
	}
	status.InitContainerStatuses, status.ContainerStatuses = nil, nil
	if !p.hasEnded() && !p.hasFailure() {
		return
	}
	for i := range p.init {
		if p.init[i].state != unstarted {
			status.InitContainerStatuses = append(status.InitContainerStatuses, p.init[i].status())
		}
	}
	for i := range p.app {
		if p.app[i].state != unstarted {
			status.ContainerStatuses = append(status.ContainerStatuses, p.app[i].status())
		}
	}
}

// hasFailure reports whether a container has been restarted, or waits for a restart.
func (p *Pod) hasFailure() bool {
	s := p.shown()
	return s.restarts > 0 || s.waitings > 0
}
