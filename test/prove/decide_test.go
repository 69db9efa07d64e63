package sim

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// fault implements decider.
func (r *run) fault(c Call) Fault {
	if r.usedFaults == r.maxFaults {
		return Fault{}
	}
	kinds := slices.DeleteFunc(slices.Clone(r.faults), func(k FaultKind) bool { return !r.strikes(k, c) })
	choice := r.choose(len(kinds) + 1)
	if choice == 0 {
		return Fault{}
	}
	r.usedFaults++
	r.world.tracef("— %s", faultText(kinds[choice-1]))
	r.fails()
	r.world.Successor = ProcessOptions{}
	if kinds[choice-1] == CrashAfter && r.stale && r.startsStale(c) {
		r.world.Successor = ProcessOptions{JobsOlder: 1, PodsOlder: 1}
	}
	return Fault{Kind: kinds[choice-1]}
}

// strikes reports whether a call may meet a fault.
func (r *run) strikes(k FaultKind, c Call) bool {
	switch {
	case c.reads():
		return !r.unseen && (k == CrashBefore || k == LoseResponse)
	case c.Verb == verbCreate && k == CrashAfter:
		return true // See startsStale.
	}
	return r.unseen == (c.Verb == verbCreate && (k == Late || k == Timeout))
}

// startsStale reports whether the successor of a process that crashed after a call begins with lists that
// lack its write.
func (r *run) startsStale(c Call) bool {
	if c.Verb == verbCreate {
		return r.unseen
	}
	return r.choose(2) == 1
}

// faultText is the name of a kind in scenarios.
func faultText(kind FaultKind) string {
	for text, k := range faultKinds {
		if k == kind {
			return text
		}
	}
	return kind.String()
}

// watchFault implements decider: a watch is closed, and a new list shows what has happened
// since.
func (r *run) watchFault(*stream) WatchFault {
	if !r.closing && (r.echoing || !r.mayClose() || r.choose(2) == 0) {
		return WatchFault{}
	}
	r.usedFaults++
	r.world.tracef("— the watch is closed")
	return WatchFault{Closed: true}
}

// fails notes a fault. From then on, nothing is expected in time: retries may wait for minutes, longer
// than anything lasts in these worlds.
func (r *run) fails() {
	r.world.notify(callFailed{})
	r.world.checker().late = anyTime()
}

// mayClose reports whether a watch may be closed.
func (r *run) mayClose() bool { return r.gaps && r.mayFail() }

// next implements decider.
func (r *run) next(n int) int {
	if n == 1 {
		return 0
	}
	return r.choose(n)
}

// grain implements decider.
func (*run) grain() time.Duration { return timeGrain }

// end implements decider.
func (r *run) end(_ *corev1.Pod, act *Act, terminated bool) *Act {
	exits := r.exits
	if terminated {
		exits = r.terminated
	}
	n := len(exits)
	if !terminated && r.failed >= r.failures {
		n = min(n, 1)
	}
	if n == 0 {
		return act
	}
	if r.inTurn && !terminated {
		out := *act
		out.Exit = exits[min(r.failed, len(exits)-1)]
		r.failed++
		return &out
	}
	out, choice := *act, 0
	if n > 1 {
		choice = r.choose(n)
	}
	if out.Exit = exits[choice]; terminated {
		out.Exit, out.TerminateExit = act.Exit, exits[choice]
	} else if choice > 0 {
		r.failed++
	}
	return &out
}
