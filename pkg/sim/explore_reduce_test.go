package sim

import (
	"slices"
	"strings"
)

// reduced leaves out steps that may as well be taken later; doc.go explains why nothing is lost.
func (r *run) reduced(all []step) []step {
	all = slices.DeleteFunc(all, repeats)
	for _, p := range r.world.processes {
		if own := r.ownSteps(p, all); len(own) > 0 {
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
		case isDelivery(e):
			delivers[resource(strings.HasSuffix(e.text, jobsOnly.String()))] = true
			own = append(own, s)
		case e.kind == fromCall && e.text == answering, e.kind == fromTimer && s.rank == rankMessage:
			own = append(own, s)
		default: // A call or the request of a list arrives at the API server.
			return nil
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
	return r.acted < len(r.user) || len(r.world.processes) > 1 || slices.ContainsFunc(r.world.events, func(e event) bool {
		return e.kind == fromCollector || e.kind == fromLateWrite
	})
}
