package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// scriptedFault is a fault that a command asked for.
type scriptedFault struct {
	strikes func(sim.Call) bool
	fault   sim.Fault
	once    bool
	// call, if not 0, is the number of the only call that is affected.
	call int
}

// FaultKinds maps the names in scenarios to the kinds of faults.
var FaultKinds = map[string]sim.FaultKind{
	"none": sim.NoFault, "crash-before": sim.CrashBefore, "crash-after": sim.CrashAfter, "lose-response": sim.LoseResponse, "fail": sim.Fail,
	"throttle": sim.Throttle, "late": sim.Late, "timeout": sim.Timeout, "conflict": sim.Conflict, "reject": sim.Reject, "malformed": sim.Malformed, "misrouted": sim.Misrouted,
}

// faultOf returns the fault of a call: the injected fault, else the fault of the first command that matches.
func (s *Runner) faultOf(c sim.Call) sim.Fault {
	if s.Injected != nil {
		if fault := s.Injected(c); fault.Kind != sim.NoFault {
			return fault
		}
	}
	for i, f := range s.scripted {
		if f.call > 0 && f.call != c.Number || !f.strikes(c) {
			continue
		}
		if f.once {
			s.scripted = append(s.scripted[:i:i], s.scripted[i+1:]...)
		}
		return f.fault
	}
	return sim.Fault{}
}

// fault makes the next call of a verb fail, or all calls, or all calls for a while.
func (s *Runner) fault(t *testing.T, d *datadriven.TestData) string {
	var kind string
	d.ScanArgs(t, "kind", &kind)
	known, ok := FaultKinds[kind]
	if !ok {
		d.Fatalf(t, "unknown fault %s", kind)
	}
	numbered := d.HasArg("call")
	s.scripted = slices.DeleteFunc(s.scripted, func(f scriptedFault) bool {
		return f.call == 0 && !numbered && (known == sim.NoFault || f.fault.Kind != sim.Reject)
	})
	if known == sim.NoFault {
		return "ok\n"
	}
	wait := duration(t, d, "retry-after", time.Second)
	if known == sim.Late || known == sim.Timeout {
		wait = duration(t, d, "by", 500*time.Millisecond)
	}
	s.strike(t, d, sim.Fault{Kind: known, Wait: wait}, func(string) bool { return true })
	return "ok\n"
}

// reject simulates a webhook or a quota that denies a verb for one pod or for all pods.
func (s *Runner) reject(t *testing.T, d *datadriven.TestData) string {
	var name string
	meant := func(string) bool { return true }
	if scanIf(t, d, "pod", &name) {
		meant = func(object string) bool { return s.meant(name) == object }
	}
	s.strike(t, d, sim.Fault{Kind: sim.Reject}, meant)
	return "ok\n"
}

// strike adds a scripted fault with the verb, and the duration or the number of calls, that the command gives.
func (s *Runner) strike(t *testing.T, d *datadriven.TestData, fault sim.Fault, meant func(object string) bool) {
	var verb string
	scanIf(t, d, "verb", &verb)
	var call int
	scanIf(t, d, "call", &call)
	always, lasts := d.HasArg("always"), d.HasArg("for")
	until := s.World.Now().Add(duration(t, d, "for", 0))
	s.scripted = append(s.scripted, scriptedFault{
		fault: fault,
		call:  call,
		once:  !always && !lasts,
		strikes: func(c sim.Call) bool {
			return (!lasts || s.World.Now().Before(until)) && strings.HasPrefix(c.Verb, verb) && meant(c.Object)
		},
	})
}

// outage makes the API server unavailable.
func (s *Runner) outage(t *testing.T, d *datadriven.TestData) string {
	s.World.Outage(duration(t, d, "for", time.Minute))
	return s.World.Trace()
}

// relist closes watches; each resumes with a new list after a while.
func (s *Runner) relist(t *testing.T, d *datadriven.TestData) string {
	gap, older := duration(t, d, "gap", 0), duration(t, d, "stale", 0)
	both := d.HasArg("jobs") == d.HasArg("pods")
	s.World.Relist(both || d.HasArg("jobs"), both || d.HasArg("pods"), gap, older)
	return "ok\n"
}

// watchFaultOf returns the fault of the next delivery of an event.
func (s *Runner) watchFaultOf() sim.WatchFault {
	s.Delivered++
	if s.InjectedWatch != nil {
		if fault := s.InjectedWatch(); fault != (sim.WatchFault{}) {
			return fault
		}
	}
	return s.scriptedWatch[s.Delivered]
}

// watchFault sets the fault of one delivery.
func (s *Runner) watchFault(t *testing.T, d *datadriven.TestData) string {
	var event int
	d.ScanArgs(t, "event", &event)
	s.scriptedWatch[event] = sim.WatchFault{
		Twice: d.HasArg("twice"), Closed: d.HasArg("closed"), Gap: duration(t, d, "gap", 0), Older: duration(t, d, "stale", 0),
	}
	return "ok\n"
}

// reshard changes the number of shards.
func (s *Runner) reshard(t *testing.T, d *datadriven.TestData) string {
	count := 1
	scanIf(t, d, "count", &count)
	s.World.Reshard(count, duration(t, d, "overlap", 0))
	return "ok\n"
}

func processOptions(t *testing.T, d *datadriven.TestData) sim.ProcessOptions {
	o := sim.ProcessOptions{
		Lag: duration(t, d, "lag", 0), Clock: duration(t, d, "clock", 0),
		JobsOlder: duration(t, d, "jobs-older", 0), PodsOlder: duration(t, d, "pods-older", 0),
	}
	if o.PodsOlder > o.JobsOlder {
		d.Fatalf(t, "pods are listed after Jobs, and cannot be older")
	}
	return o
}

// restart ends the controller process and starts a new one.
func (s *Runner) restart(t *testing.T, d *datadriven.TestData) string {
	s.World.RestartAs(processOptions(t, d))
	return "restarted\n"
}

// secondLeader starts a second controller process in addition to the first.
func (s *Runner) secondLeader(t *testing.T, d *datadriven.TestData) string {
	s.World.SecondLeader(processOptions(t, d))
	return "ok\n"
}

// oneLeader ends the first of two processes.
func (s *Runner) oneLeader(*testing.T, *datadriven.TestData) string {
	s.World.OneLeader()
	return "ok\n"
}

// setClock sets the clocks of the controller.
func (s *Runner) setClock(t *testing.T, d *datadriven.TestData) string {
	s.World.SetClock(duration(t, d, "offset", 0))
	return "ok\n"
}

// terminateNamespace deletes the namespace of all objects.
func (s *Runner) terminateNamespace(*testing.T, *datadriven.TestData) string {
	s.World.TerminateNamespace()
	return s.World.Trace()
}
