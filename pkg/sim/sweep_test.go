package sim_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// sweepCalls is the number of API calls of a file at which each fault is injected: all calls in most files, otherwise
// some that are evenly distributed. make test uses fewer (-short).
func sweepCalls() int {
	switch {
	case scenario.UnderRace:
		return 2
	case testing.Short():
		return 6
	}
	return 100
}

// sweepSmall is this number for the kinds of faults that take turns.
func sweepSmall() int { return min(16, sweepCalls()) }

var sweepFaults = []struct {
	name  string
	fault sim.Fault
}{
	{"crash before", sim.Fault{Kind: sim.CrashBefore}},
	{"crash after the commit of", sim.Fault{Kind: sim.CrashAfter}},
	{"lost response of", sim.Fault{Kind: sim.LoseResponse}},
	{"failure of", sim.Fault{Kind: sim.Fail}},
}

// TestSingleFaultChangesNoOutcome replays every scenario file with one fault at one API call, for every fault
// and every call: the outcome is the same as without the fault, and no invariant is broken.
// Requirements: TRK-03
func TestSingleFaultChangesNoOutcome(t *testing.T) {
	replayAll(t, func(r scenario.Replay, t *testing.T) {
		want := r.Run(t, scenario.Trouble{})
		if len(want.Broken) > 0 {
			t.Fatalf("without a fault: %s", strings.Join(want.Broken, "\n"))
		}
		for _, kind := range sweepFaults {
			for _, at := range spread(want.Calls, sweepCalls()) {
				strike := func() scenario.Trouble { return scenario.Trouble{Fault: once(at, kind.fault)} }
				if problem := r.Problem(t, strike, want, scenario.Everything); problem != "" {
					t.Errorf("%s %v of %d: %s", kind.name, at, len(want.Calls), problem)
					return
				}
			}
		}
	})
}

// spread picks at most this number of calls, evenly distributed.
func spread(calls []sim.Call, most int) (some []sim.Call) {
	n := min(len(calls), most)
	for i := range n {
		some = append(some, calls[i*len(calls)/n])
	}
	return some
}

func once(at sim.Call, fault sim.Fault) func(sim.Call) sim.Fault {
	return func(c sim.Call) sim.Fault {
		if c.Number == at.Number {
			return fault
		}
		return sim.Fault{}
	}
}

// lateBy are the delays of late writes: while the process is being replaced, while the next process is working, and
// after the next process has waited for something.
var lateBy = []time.Duration{3 * time.Millisecond, 700 * time.Millisecond, 5 * time.Second}

// TestLateOrRefusedCallChangesNoOutcome does the same for writes that are made while another process is working
// (REG-05), or after the caller has given up on them, and for the errors of a webhook, a quota, or an overloaded API
// server (REG-06, REG-30), which take turns. A late creation makes an extra pod, which may cost a failure.
// Requirements: TRK-03
func TestLateOrRefusedCallChangesNoOutcome(t *testing.T) {
	kinds := []sim.Fault{{Kind: sim.Timeout}, {Kind: sim.Throttle, Wait: time.Second}, {Kind: sim.Conflict}, {Kind: sim.Reject}, {Kind: sim.Malformed}, {Kind: sim.Misrouted}}
	replayAll(t, func(r scenario.Replay, t *testing.T) {
		want := r.Run(t, scenario.Trouble{})
		for i, at := range spread(want.Calls, sweepSmall()) {
			for _, fault := range []sim.Fault{{Kind: sim.Late}, kinds[(i+len(want.Calls))%len(kinds)]} {
				if fault.Wait == 0 {
					fault.Wait = lateBy[i%len(lateBy)]
				}
				same := scenario.Everything
				if (fault.Kind == sim.Late || fault.Kind == sim.Timeout) && strings.HasPrefix(at.Verb, "create") {
					same = scenario.Conditions
				}
				strike := func() scenario.Trouble { return scenario.Trouble{Fault: once(at, fault)} }
				if problem := r.Problem(t, strike, want, same); problem != "" {
					t.Errorf("%+v of %v of %d: %s", fault, at, len(want.Calls), problem)
					return
				}
			}
		}
	})
}

// TestFailoverWithAnOldCacheCountsExactly replays every scenario file with a crash after a commit, where the
// next process begins with older lists than the last one had: it may create pods that are no longer needed, but never
// counts a pod twice.
// Requirements: REG-05
func TestFailoverWithAnOldCacheCountsExactly(t *testing.T) {
	old := []sim.ProcessOptions{{JobsOlder: 3 * time.Second}, {JobsOlder: 3 * time.Second, PodsOlder: 3 * time.Second}, {JobsOlder: time.Minute, PodsOlder: time.Minute}}
	replayAll(t, func(r scenario.Replay, t *testing.T) {
		want := r.Run(t, scenario.Trouble{})
		for i, at := range spread(want.Calls, sweepSmall()) {
			crash := func() scenario.Trouble {
				return scenario.Trouble{Fault: once(at, sim.Fault{Kind: sim.CrashAfter}), Successor: old[i%len(old)]}
			}
			if problem := r.Problem(t, crash, want, scenario.Conditions); problem != "" {
				t.Errorf("crash after the commit of %v of %d, %+v: %s", at, len(want.Calls), old[i%len(old)], problem)
				return
			}
		}
	})
}

// anyFault returns a fault of any kind for one call in sixteen.
func anyFault(seed uint64) func(sim.Call) sim.Fault {
	rng := rand.New(rand.NewPCG(seed, 3))
	return func(sim.Call) sim.Fault {
		if rng.IntN(16) > 0 {
			return sim.Fault{}
		}
		return sim.Fault{Kind: sim.FaultKind(rng.IntN(int(sim.Misrouted))) + 1, Wait: time.Duration(rng.IntN(4000)) * time.Millisecond}
	}
}

// anyWatchFault closes a watch at one event in ten, for up to some seconds, and delivers one in ten twice.
func anyWatchFault(seed uint64) func() sim.WatchFault {
	rng := rand.New(rand.NewPCG(seed, 4))
	return func() sim.WatchFault {
		switch rng.IntN(20) {
		case 0, 1:
			return sim.WatchFault{Twice: true}
		case 2:
			return sim.WatchFault{Closed: true}
		case 3:
			return sim.WatchFault{Closed: true, Gap: time.Duration(rng.IntN(4000)) * time.Millisecond, Older: time.Duration(rng.IntN(1000)) * time.Millisecond}
		}
		return sim.WatchFault{}
	}
}
