package model

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// pod is a pod as a node sees it, and what the controller has noted about it.
type pod struct {
	// index is -1 in a Job without indexes.
	index, nth int
	fate       Fate
	// failures and ignored are how often the index had failed before.
	failures, ignored int

	phase                            corev1.PodPhase
	created, started, ended, deleted time.Duration
	restarted                        bool
	main, setup                      []exit // app containers, init containers
	conditions                       []corev1.PodConditionType
	// killed says that no node keeps the pod, settled that the controller does not.
	killed, settled bool
}

// exit is how a container ended.
type exit struct {
	container string
	code      int32
}

// PodName is what the model calls a pod.
func PodName(index, nth int) string { return fmt.Sprintf("<%d.%d>", index, nth) }

func (p *pod) over() bool { return p.phase == corev1.PodSucceeded || p.phase == corev1.PodFailed }

func (p *pod) active() bool { return !p.over() && p.deleted == Never }

func (p *pod) terminating() bool { return !p.over() && p.deleted != Never }

// running says that a node has the pod, and that it has not ended.
func (p *pod) running() bool { return p.phase == corev1.PodRunning }

// next is when something happens to the pod by itself.
func (p *pod) next() time.Duration {
	switch {
	case p.over():
		return Never
	case !p.running() && p.deleted != Never:
		return p.deleted + podGC
	case !p.running() && p.fate.Unscheduled:
		return Never
	case !p.running():
		return p.created + startup
	}
	return min(p.nextRestart(), p.nextEnd(), p.nextTermination())
}

func (p *pod) nextRestart() time.Duration {
	if p.fate.Restarts == 0 || p.restarted {
		return Never
	}
	return p.started + p.fate.RestartsAfter
}

func (p *pod) nextEnd() time.Duration {
	if p.fate.Run == Forever || p.fate.Lost && p.deleted != Never {
		return Never
	}
	return p.started + p.fate.Run
}

func (p *pod) nextTermination() time.Duration {
	if p.deleted == Never || p.fate.Lost {
		return Never
	}
	return p.deleted + min(p.fate.Terminate, grace) + time.Millisecond
}

// live lets happen what is due.
func (p *pod) live(w *world) {
	switch {
	case !p.running() && p.deleted != Never:
		p.end(w, nil, nil) // PodGC
	case !p.running() && p.fate.SetupExit != 0:
		p.started = w.now
		p.end(w, nil, []exit{{"setup", p.fate.SetupExit}})
	case !p.running():
		p.phase, p.started = corev1.PodRunning, w.now
	case p.nextRestart() <= w.now:
		p.restarted = true
	case p.nextEnd() <= w.now:
		p.exits(w, p.fate.Exit, p.fate.SideExit)
	default:
		code := p.fate.TerminateExit
		if p.fate.Terminate > grace {
			code = killed
		}
		p.exits(w, code, code)
	}
}

func (p *pod) exits(w *world, mainCode, sideCode int32) {
	var setup []exit
	if len(w.spec.Template.Spec.InitContainers) > 0 {
		setup = []exit{{"setup", 0}}
	}
	containers := []exit{{"main", mainCode}, {"side", sideCode}}
	p.end(w, containers[:len(w.spec.Template.Spec.Containers)], setup)
}

// end ends the pod: it has succeeded if every container has.
func (p *pod) end(w *world, containers, setup []exit) {
	p.main, p.setup, p.ended = containers, setup, w.now
	p.phase = corev1.PodSucceeded
	if len(containers) == 0 {
		p.phase = corev1.PodFailed
	}
	for _, c := range containers {
		if c.code != 0 {
			p.phase = corev1.PodFailed
		}
	}
	if p.fate.Condition != "" && p.started != Never {
		p.conditions = append(p.conditions, p.fate.Condition)
	}
	p.killed = p.deleted != Never
}

// finish is when the pod finished as far as back-off goes: when it ended, or was told to.
func (p *pod) finish() time.Duration {
	if p.ended != Never && p.started != Never {
		return p.ended.Truncate(time.Second)
	}
	return p.deleted.Truncate(time.Second)
}

func (p *pod) restarts() int32 {
	if p.restarted && !p.over() {
		return p.fate.Restarts
	}
	return 0
}
