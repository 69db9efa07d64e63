package model

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// pod is a pod as its node sees it, with the controller's state.
type pod struct {
	// index is -1 in a Job without indexes.
	index, nth int
	script     Script
	// failures and ignored are the index's previous failures.
	failures, ignored int

	phase                            corev1.PodPhase
	created, started, ended, deleted time.Duration
	restarted                        bool
	main, setup                      []exit // app containers, init containers
	conditions                       []corev1.PodConditionType
	// killed reports whether the node is done with the pod, settled whether the controller is.
	killed, settled bool
}

// exit is the exit code of a container.
type exit struct {
	container string
	code      int32
}

// PodName returns the model's name of a pod.
func PodName(index, nth int) string { return fmt.Sprintf("<%d.%d>", index, nth) }

func (p *pod) over() bool { return p.phase == corev1.PodSucceeded || p.phase == corev1.PodFailed }

func (p *pod) active() bool { return !p.over() && p.deleted == Never }

func (p *pod) terminating() bool { return !p.over() && p.deleted != Never }

// running reports whether the pod is on a node and has not ended.
func (p *pod) running() bool { return p.phase == corev1.PodRunning }

// next returns the time of the pod's next event of its own.
func (p *pod) next() time.Duration {
	switch {
	case p.over():
		return Never
	case !p.running() && p.deleted != Never:
		return p.deleted + podGC
	case !p.running() && p.script.Unscheduled:
		return Never
	case !p.running():
		return p.created + startup
	}
	return min(p.nextRestart(), p.nextEnd(), p.nextTermination())
}

func (p *pod) nextRestart() time.Duration {
	if p.script.Restarts == 0 || p.restarted {
		return Never
	}
	return p.started + p.script.RestartsAfter
}

func (p *pod) nextEnd() time.Duration {
	if p.script.Run == Forever || p.script.Lost && p.deleted != Never {
		return Never
	}
	return p.started + p.script.Run
}

func (p *pod) nextTermination() time.Duration {
	if p.deleted == Never || p.script.Lost {
		return Never
	}
	return p.deleted + min(p.script.Terminate, grace) + time.Millisecond
}

// live carries out the pod's due event.
func (p *pod) live(w *world) {
	switch {
	case !p.running() && p.deleted != Never:
		p.end(w, nil, nil) // PodGC
	case !p.running() && p.script.SetupExit != 0:
		p.started = w.now
		p.end(w, nil, []exit{{"setup", p.script.SetupExit}})
	case !p.running():
		p.phase, p.started = corev1.PodRunning, w.now
	case p.nextRestart() <= w.now:
		p.restarted = true
	case p.nextEnd() <= w.now:
		p.exits(w, p.script.Exit, p.script.SideExit)
	default:
		code := p.script.TerminateExit
		if p.script.Terminate > grace {
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

// end ends the pod: it succeeds if every container has succeeded.
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
	if p.script.Condition != "" && p.started != Never {
		p.conditions = append(p.conditions, p.script.Condition)
	}
	p.killed = p.deleted != Never
}

// finish returns when the pod finished, for the back-off: when it ended, or was deleted.
func (p *pod) finish() time.Duration {
	if p.ended != Never && p.started != Never {
		return p.ended.Truncate(time.Second)
	}
	return p.deleted.Truncate(time.Second)
}

func (p *pod) restarts() int32 {
	if p.restarted && !p.over() {
		return p.script.Restarts
	}
	return 0
}
