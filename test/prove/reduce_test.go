package sim

import (
	"slices"
	"strings"
)

// reduced leaves out steps that may as well be taken later; doc.go explains why nothing is lost.
func (r *run) reduced(all []step) []step {
	all = slices.DeleteFunc(all, repeats)
	switch {
	case r.going != nil:
		all = slices.DeleteFunc(all, func(s step) bool { return !goesOn(s, r.going) })
	case len(r.world.processes) == 1:
		if own := r.ownSteps(r.world.processes[0], all); len(own) > 0 {
			return own
		}
	}
	kept := all[:0]
	for _, s := range all {
		if s.event != nil && isDelivery(s.event) && isAsking(s.event.process, all) {
			if s.event.commit == nil || !r.mayClose() {
				continue
			}
			s.closes, s.rank = true, rankFault
		}
		kept = append(kept, s)
	}
	slices.SortStableFunc(kept, compareSteps)
	return kept
}

// goingOn returns the process that took a local step if it has more to do before others may act, or nil.
func (r *run) goingOn(p *process) *process {
	if p == nil || r.plain || r.usedSlow < r.slow || len(r.world.processes) == 1 || !p.alive {
		return nil
	}
	if slices.ContainsFunc(r.allSteps(), func(s step) bool { return !repeats(s) && goesOn(s, p) }) {
		return p
	}
	return nil
}

// goesOn reports whether a step is a local step of a process, or its next call.
func goesOn(s step, p *process) bool {
	return s.event != nil && s.event.process == p && (s.event.kind == fromCall || localProcess(s) == p)
}

// localProcess returns the process of a step that changes only what that knows, or nil.
func localProcess(s step) *process {
	if e := s.event; e != nil && (isDelivery(e) || e.kind == fromCall && e.text == answering || e.kind == fromTimer && s.rank == rankMessage) {
		return e.process
	}
	return nil
}

// repeats reports whether a step asks for a sync of a Job that is being synced: that sync is followed
// by another one, whether it is asked for now or then.
func repeats(s step) bool {
	return s.event != nil && s.event.kind == fromTimer && s.rank == rankMessage && s.event.process != nil && len(s.event.process.running) > 0
}

// isAsking reports whether a process waits for a call to arrive at the API server.
func isAsking(p *process, all []step) bool {
	return slices.ContainsFunc(all, func(s step) bool {
		return s.event != nil && s.event.process == p && s.event.kind == fromCall && s.event.text == asking
	})
}

// isDelivery reports whether a watch is about to deliver something.
func isDelivery(e *event) bool {
	return e.kind == fromWatch && (e.commit != nil || strings.HasPrefix(e.text, "list of "))
}

// ownSteps returns the steps that change nothing but what a process knows, if they include
// everything of that kind that can happen before one of them does.
func (r *run) ownSteps(p *process, all []step) (own []step) {
	delivers := map[resource]bool{}
	for _, s := range all {
		switch e := s.event; {
		case e == nil || e.process != p || e.kind == fromLateWrite:
		case localProcess(s) == nil: // A call or the request of a list arrives at the API server.
			return nil
		default:
			own = append(own, s)
			if isDelivery(e) {
				delivers[resource(strings.HasSuffix(e.text, jobsOnly.String()))] = true
			}
		}
	}
	if !delivers[podsOnly] || !delivers[jobsOnly] && r.jobMayChange() {
		return nil
	}
	return own
}

// jobMayChange reports whether something else than the only process may change the Job.
func (r *run) jobMayChange() bool {
	for _, job := range r.world.Store.jobs {
		if job.DeletionTimestamp != nil {
			return true
		}
	}
	return r.acted < len(r.user) || slices.ContainsFunc(r.world.events, func(e *event) bool {
		return e.kind == fromCollector || e.kind == fromLateWrite
	})
}
