package storm

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// dice draws faults of calls and watches while a storm is played.
type dice struct {
	calls, watches *rand.Rand
	// kinds are the kinds of faults that occur. One in oneIn calls, and one in oneInWatch watch events, is faulty.
	kinds             []sim.FaultKind
	oneIn, oneInWatch int
	// until is the time of the last possible fault.
	until time.Duration
	// crashes counts the crashed processes.
	crashes int
}

// mostCrashes limits the number of crashes. Successors start at once, without a back-off: if no write succeeds
// meanwhile, they make more calls in a minute than a world may have.
const mostCrashes = 1000

func (m stormMaker) newDice() *dice {
	d := &dice{oneIn: scenario.Pick(m.Rand, 4, 16, 16, 64), oneInWatch: scenario.Pick(m.Rand, 5, 20, 20, 100), until: m.within}
	for kind := sim.CrashBefore; kind <= sim.Misrouted; kind++ {
		if m.IntN(3) == 0 {
			d.kinds = append(d.kinds, kind)
		}
	}
	d.calls, d.watches = rand.New(rand.NewPCG(m.storm.seed, 33)), rand.New(rand.NewPCG(m.storm.seed, 34))
	if m.IntN(2) == 0 {
		d.oneInWatch = 0
	}
	return d
}

// thrown draws the faults of a scenario, and records the ones that occur.
func (d *dice) thrown(s *scenario.Runner, out *played) {
	note := func(kind string, c *datadriven.TestData) {
		out.faults = append(out.faults, c)
		out.kinds[kind]++
	}
	s.Injected = func(c sim.Call) sim.Fault {
		if len(d.kinds) == 0 || s.World.Elapsed() > d.until || d.calls.IntN(d.oneIn) > 0 {
			return sim.Fault{}
		}
		fault := sim.Fault{Kind: scenario.Pick(d.calls, d.kinds...), Wait: time.Duration(d.calls.IntN(4000)) * time.Millisecond}
		if fault.Kind == sim.CrashBefore || fault.Kind == sim.CrashAfter {
			if d.crashes++; d.crashes > mostCrashes {
				return sim.Fault{}
			}
		}
		note(faultName(fault.Kind), faultCommand(c.Number, fault))
		return fault
	}
	s.InjectedWatch = func() sim.WatchFault {
		if d.oneInWatch == 0 || s.World.Elapsed() > d.until || d.watches.IntN(d.oneInWatch) > 0 {
			return sim.WatchFault{}
		}
		fault, args := sim.WatchFault{Twice: true}, "twice"
		switch d.watches.IntN(3) {
		case 1:
			fault, args = sim.WatchFault{Closed: true}, "closed"
		case 2:
			fault, args = sim.WatchFault{Closed: true, Gap: time.Duration(d.watches.IntN(4000)) * time.Millisecond, Older: time.Duration(d.watches.IntN(1000)) * time.Millisecond}, "closed"
		}
		note("watch "+args, scenario.Command("watch-fault", fmt.Sprintf("event=%d", s.Delivered), args, nonzero("gap=", fault.Gap), nonzero("stale=", fault.Older)))
		return fault
	}
}

func nonzero(name string, d time.Duration) string {
	if d == 0 {
		return ""
	}
	return name + d.String()
}

// faultCommand returns the command for one fault of one call.
func faultCommand(call int, f sim.Fault) *datadriven.TestData {
	name := ""
	switch f.Kind {
	case sim.Throttle:
		name = "retry-after=" + f.Wait.String()
	case sim.Late, sim.Timeout:
		name = "by=" + f.Wait.String()
	}
	return scenario.Command("fault", fmt.Sprintf("call=%d", call), "kind="+faultName(f.Kind), name)
}

func faultName(kind sim.FaultKind) string {
	for name, k := range scenario.FaultKinds {
		if k == kind {
			return name
		}
	}
	return ""
}
