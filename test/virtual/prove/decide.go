package prove

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// Fault implements sim.Decider.
func (r *run) Fault(c sim.Call) sim.Fault {
	if r.usedFaults == r.maxFaults {
		return sim.Fault{}
	}
	kinds := slices.DeleteFunc(slices.Clone(r.faults), func(k sim.FaultKind) bool { return !r.strikes(k, c) })
	choice := r.choose(len(kinds) + 1)
	if choice == 0 {
		return sim.Fault{}
	}
	r.usedFaults++
	r.world.Checker.Tracef("— %s", faultText(kinds[choice-1]))
	r.fails()
	r.world.Successor = sim.ProcessOptions{}
	if kinds[choice-1] == sim.CrashAfter && r.stale && r.startsStale(c) {
		r.world.Successor = sim.ProcessOptions{JobsOlder: 1, PodsOlder: 1}
	}
	return sim.Fault{Kind: kinds[choice-1]}
}

// strikes reports whether a call may have a fault of kind k.
func (r *run) strikes(k sim.FaultKind, c sim.Call) bool {
	switch {
	case c.Reads():
		return !r.unseen && (k == sim.CrashBefore || k == sim.LoseResponse)
	case c.Verb == verbCreate && k == sim.CrashAfter:
		return true // See startsStale.
	}
	return r.unseen == (c.Verb == verbCreate && (k == sim.Late || k == sim.Timeout))
}

// startsStale reports whether the successor of a process that crashed after a call begins with lists that lack the
// call's write.
func (r *run) startsStale(c sim.Call) bool {
	if c.Verb == verbCreate {
		return r.unseen
	}
	return r.choose(2) == 1
}

// faultText returns the name of a kind in scenarios.
func faultText(kind sim.FaultKind) string {
	for text, k := range scenario.FaultKinds {
		if k == kind {
			return text
		}
	}
	return kind.String()
}

// WatchFault implements sim.Decider: a watch is closed, and resumes with a new list.
func (r *run) WatchFault() sim.WatchFault {
	if !r.closing && (r.echoing || !r.mayClose() || r.choose(2) == 0) {
		return sim.WatchFault{}
	}
	r.usedFaults++
	r.world.Checker.Tracef("— the watch is closed")
	return sim.WatchFault{Closed: true}
}

// fails records a fault. From then on, nothing is expected in time: retries may wait for minutes, longer than these
// worlds last.
func (r *run) fails() {
	r.world.Checker.Observe(sim.CallFailed{})
	r.world.Checker.Late = anyTime()
}

// mayClose reports whether a watch may be closed.
func (r *run) mayClose() bool { return r.gaps && r.mayFail() }

// Next implements sim.Decider.
func (r *run) Next(n int) int {
	if n == 1 {
		return 0
	}
	return r.choose(n)
}

// Grain implements sim.Decider.
func (*run) Grain() time.Duration { return timeGrain }

// End implements sim.Decider.
func (r *run) End(_ *corev1.Pod, act *sim.Act, terminated bool) *sim.Act {
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
