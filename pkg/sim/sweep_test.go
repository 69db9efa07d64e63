package sim

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// sweepCalls is at how many API calls of a file each fault strikes: at all of them in
// most files, otherwise at some that are spread evenly. make test tries fewer (-short).
func sweepCalls() int {
	switch {
	case underRace:
		return 2
	case testing.Short():
		return 10
	}
	return 100
}

// fewerSeeds of those that a test would try.
func fewerSeeds(n uint64) uint64 {
	if underRace || testing.Short() {
		return max(n/10, 1)
	}
	return n
}

// sweepSmall is the same for the kinds of faults that are swept in turn.
const sweepSmall = 16

var sweepFaults = []struct {
	name  string
	fault Fault
}{
	{"crash before", Fault{Kind: CrashBefore}}, {"crash after the commit of", Fault{Kind: CrashAfter}},
	{"lost response of", Fault{Kind: LoseResponse}}, {"failure of", Fault{Kind: Fail}},
}

// TestSingleFaultChangesNoOutcome_TRK_03 replays every scenario file with one fault at one API
// call, for every fault and every call: the outcome is the same as without, and no
// invariant breaks.
func TestSingleFaultChangesNoOutcome_TRK_03(t *testing.T) {
	replayAll(t, func(r replay, t *testing.T) {
		want := r.run(t, trouble{})
		if len(want.broken) > 0 {
			t.Fatalf("without a fault: %s", strings.Join(want.broken, "\n"))
		}
		for _, kind := range sweepFaults {
			for _, at := range spread(want.calls, sweepCalls()) {
				strike := func() trouble { return trouble{fault: once(at, kind.fault)} }
				if problem := r.problem(t, strike, want, everything); problem != "" {
					t.Errorf("%s %v of %d: %s", kind.name, at, len(want.calls), problem)
					return
				}
			}
		}
	})
}

// spread picks at most so many calls.
func spread(calls []Call, most int) (some []Call) {
	n := min(len(calls), most)
	for i := range n {
		some = append(some, calls[i*len(calls)/n])
	}
	return some
}

func once(at Call, fault Fault) func(Call) Fault {
	return func(c Call) Fault {
		if c.Number == at.Number {
			return fault
		}
		return Fault{}
	}
}

// lateBy are the times by which a write comes late: while its process is just being
// replaced, while the next one is at work, and when that one has waited for something.
var lateBy = []time.Duration{3 * time.Millisecond, 700 * time.Millisecond, 5 * time.Second}

// TestLateOrRefusedCallChangesNoOutcome_TRK_03 is the same for writes that are made when another
// process is at work (REG-05), or when the caller has given up on them, and for answers
// that a webhook, a quota, or an API server under load gives (REG-06, REG-30): by turns
// at each call. A creation that comes late makes a pod too many, which may cost a failure.
func TestLateOrRefusedCallChangesNoOutcome_TRK_03(t *testing.T) {
	kinds := []Fault{{Kind: Timeout}, {Kind: Throttle, Wait: time.Second}, {Kind: Conflict}, {Kind: Reject}, {Kind: Malformed}, {Kind: Misrouted}}
	replayAll(t, func(r replay, t *testing.T) {
		want := r.run(t, trouble{})
		for i, at := range spread(want.calls, sweepSmall) {
			for _, fault := range []Fault{{Kind: Late}, kinds[(i+len(want.calls))%len(kinds)]} {
				if fault.Wait == 0 {
					fault.Wait = lateBy[i%len(lateBy)]
				}
				same := everything
				if (fault.Kind == Late || fault.Kind == Timeout) && strings.HasPrefix(at.Verb, "create") {
					same = conditions
				}
				strike := func() trouble { return trouble{fault: once(at, fault)} }
				if problem := r.problem(t, strike, want, same); problem != "" {
					t.Errorf("%+v of %v of %d: %s", fault, at, len(want.calls), problem)
					return
				}
			}
		}
	})
}

// TestFailoverWithAnOldCacheCountsExactly_REG_05 replays every scenario file with a crash after a commit,
// where the next process begins with lists that are older than what the last one did: it
// may create pods that are not needed anymore, and never counts one twice.
func TestFailoverWithAnOldCacheCountsExactly_REG_05(t *testing.T) {
	old := []ProcessOptions{{JobsOlder: 3 * time.Second}, {JobsOlder: 3 * time.Second, PodsOlder: 3 * time.Second}, {JobsOlder: time.Minute, PodsOlder: time.Minute}}
	replayAll(t, func(r replay, t *testing.T) {
		want := r.run(t, trouble{})
		for i, at := range spread(want.calls, sweepSmall) {
			crash := func() trouble { return trouble{fault: once(at, Fault{Kind: CrashAfter}), successor: old[i%len(old)]} }
			if problem := r.problem(t, crash, want, conditions); problem != "" {
				t.Errorf("crash after the commit of %v of %d, %+v: %s", at, len(want.calls), old[i%len(old)], problem)
				return
			}
		}
	})
}

// anyFault lets one call in sixteen go wrong, in any way that there is.
func anyFault(seed uint64) func(Call) Fault {
	rng := rand.New(rand.NewPCG(seed, 3))
	return func(Call) Fault {
		if rng.IntN(16) > 0 {
			return Fault{}
		}
		return Fault{Kind: FaultKind(rng.IntN(int(Misrouted))) + 1, Wait: time.Duration(rng.IntN(4000)) * time.Millisecond}
	}
}

// anyWatchFault closes a watch at one event in ten, for up to some seconds, and lets one
// in ten arrive twice.
func anyWatchFault(seed uint64) func() WatchFault {
	rng := rand.New(rand.NewPCG(seed, 4))
	return func() WatchFault {
		switch rng.IntN(20) {
		case 0, 1:
			return WatchFault{Twice: true}
		case 2:
			return WatchFault{Closed: true}
		case 3:
			return WatchFault{Closed: true, Gap: time.Duration(rng.IntN(4000)) * time.Millisecond, Older: time.Duration(rng.IntN(1000)) * time.Millisecond}
		}
		return WatchFault{}
	}
}
