package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// scriptedFault is what a command asked to go wrong.
type scriptedFault struct {
	strikes func(Call) bool
	fault   Fault
	once    bool
	// call, if not 0, is the number of the one call that it strikes.
	call int
}

// faultKinds are the kinds by their names in scenarios.
var faultKinds = map[string]FaultKind{
	"none": NoFault, "crash-before": CrashBefore, "crash-after": CrashAfter, "lose-response": LoseResponse, "fail": Fail,
	"throttle": Throttle, "late": Late, "timeout": Timeout, "conflict": Conflict, "reject": Reject, "malformed": Malformed, "misrouted": Misrouted,
}

// faultOf is what goes wrong with a call: what is injected, or else what the first
// command that fits asked for.
func (s *scenario) faultOf(c Call) Fault {
	if s.injected != nil {
		if fault := s.injected(c); fault.Kind != NoFault {
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
	return Fault{}
}

// fault makes the next call of a verb go wrong, or all of them, or all for a while.
func (s *scenario) fault(t *testing.T, d *datadriven.TestData) string {
	var kind string
	d.ScanArgs(t, "kind", &kind)
	known, ok := faultKinds[kind]
	if !ok {
		d.Fatalf(t, "unknown fault %s", kind)
	}
	numbered := d.HasArg("call")
	s.scripted = slices.DeleteFunc(s.scripted, func(f scriptedFault) bool {
		return f.call == 0 && !numbered && (known == NoFault || f.fault.Kind != Reject)
	})
	if known == NoFault {
		return "ok\n"
	}
	wait := duration(t, d, "retry-after", time.Second)
	if known == Late || known == Timeout {
		wait = duration(t, d, "by", 500*time.Millisecond)
	}
	s.strike(t, d, Fault{Kind: known, Wait: wait}, func(string) bool { return true })
	return "ok\n"
}

// reject is a webhook, or a quota, that denies a verb on one pod, or on all.
func (s *scenario) reject(t *testing.T, d *datadriven.TestData) string {
	var name string
	meant := func(string) bool { return true }
	if scanIf(t, d, "pod", &name) {
		meant = func(object string) bool { return s.meant(name) == object }
	}
	s.strike(t, d, Fault{Kind: Reject}, meant)
	return "ok\n"
}

// strike adds a scripted fault for the verb, and the time or the number of times, that the
// command names.
func (s *scenario) strike(t *testing.T, d *datadriven.TestData, fault Fault, meant func(object string) bool) {
	var verb string
	scanIf(t, d, "verb", &verb)
	var call int
	scanIf(t, d, "call", &call)
	always, lasts := d.HasArg("always"), d.HasArg("for")
	until := s.world.Now().Add(duration(t, d, "for", 0))
	s.scripted = append(s.scripted, scriptedFault{
		fault: fault,
		call:  call,
		once:  !always && !lasts,
		strikes: func(c Call) bool {
			return (!lasts || s.world.Now().Before(until)) && strings.HasPrefix(c.Verb, verb) && meant(c.Object)
		},
	})
}

// outage takes the API server away.
func (s *scenario) outage(t *testing.T, d *datadriven.TestData) string {
	s.world.Outage(duration(t, d, "for", time.Minute))
	return s.world.Trace()
}

// relist closes watches; each continues with a new list, after a while.
func (s *scenario) relist(t *testing.T, d *datadriven.TestData) string {
	gap, older := duration(t, d, "gap", 0), duration(t, d, "stale", 0)
	both := d.HasArg("jobs") == d.HasArg("pods")
	for _, p := range s.world.processes {
		if both || d.HasArg("jobs") {
			p.jobs.relist(gap, older)
		}
		if both || d.HasArg("pods") {
			p.pods.relist(gap, older)
		}
	}
	return "ok\n"
}

// watchFaultOf is what goes wrong with the next delivery of an event.
func (s *scenario) watchFaultOf() WatchFault {
	s.delivered++
	if s.injectedWatch != nil {
		if fault := s.injectedWatch(); fault != (WatchFault{}) {
			return fault
		}
	}
	return s.scriptedWatch[s.delivered]
}

// watchFault makes the delivery of one event go wrong.
func (s *scenario) watchFault(t *testing.T, d *datadriven.TestData) string {
	var event int
	d.ScanArgs(t, "event", &event)
	s.scriptedWatch[event] = WatchFault{
		Twice: d.HasArg("twice"), Closed: d.HasArg("closed"), Gap: duration(t, d, "gap", 0), Older: duration(t, d, "stale", 0),
	}
	return "ok\n"
}

// reshard changes the number of shards.
func (s *scenario) reshard(t *testing.T, d *datadriven.TestData) string {
	count := 1
	scanIf(t, d, "count", &count)
	s.world.Reshard(count, duration(t, d, "overlap", 0))
	return "ok\n"
}

func processOptions(t *testing.T, d *datadriven.TestData) ProcessOptions {
	o := ProcessOptions{
		Lag: duration(t, d, "lag", 0), Clock: duration(t, d, "clock", 0),
		JobsOlder: duration(t, d, "jobs-older", 0), PodsOlder: duration(t, d, "pods-older", 0),
	}
	if o.PodsOlder > o.JobsOlder {
		d.Fatalf(t, "pods are listed after Jobs, and cannot be older")
	}
	return o
}

// restart ends the controller process, and starts another.
func (s *scenario) restart(t *testing.T, d *datadriven.TestData) string {
	s.world.RestartAs(processOptions(t, d))
	return "restarted\n"
}

// secondLeader starts a second process of the controller beside the first.
func (s *scenario) secondLeader(t *testing.T, d *datadriven.TestData) string {
	s.world.SecondLeader(processOptions(t, d))
	return "ok\n"
}

// oneLeader ends the first of two processes.
func (s *scenario) oneLeader(*testing.T, *datadriven.TestData) string {
	s.world.OneLeader()
	return "ok\n"
}

// setClock sets the clocks of the controller.
func (s *scenario) setClock(t *testing.T, d *datadriven.TestData) string {
	s.world.SetClock(duration(t, d, "offset", 0))
	return "ok\n"
}

// terminateNamespace deletes the namespace that everything is in.
func (s *scenario) terminateNamespace(*testing.T, *datadriven.TestData) string {
	s.world.TerminateNamespace()
	return s.world.Trace()
}
