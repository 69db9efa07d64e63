package prove

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// reduced removes steps that may as well be taken later; doc.go explains why this is sound.
func reduced(r *run, all []step) []step {
	all = slices.DeleteFunc(all, repeats)
	switch {
	case r.going.Exists():
		all = slices.DeleteFunc(all, func(s step) bool { return !goesOn(s, r.going) })
	case len(r.world.Processes()) == 1:
		if own := ownSteps(r, r.world.Processes()[0], all); len(own) > 0 {
			return own
		}
	}
	kept := all[:0]
	for _, s := range all {
		if s.event != nil && isDelivery(s.event) && isAsking(s.event.Process(), all) {
			if s.event.Commit() == nil || !r.mayClose() {
				continue
			}
			s.closes, s.rank = true, rankFault
		}
		kept = append(kept, s)
	}
	slices.SortStableFunc(kept, compareSteps)
	return kept
}

// goingOn returns the process p, which took a local step, if it has more to do before others may act, or no process.
func goingOn(r *run, p sim.Process) sim.Process {
	if !p.Exists() || r.plain || r.usedSlow < r.slow || len(r.world.Processes()) == 1 || !p.IsAlive() {
		return sim.Process{}
	}
	if slices.ContainsFunc(r.allSteps(), func(s step) bool { return !repeats(s) && goesOn(s, p) }) {
		return p
	}
	return sim.Process{}
}

// goesOn reports whether a step is a local step of a process, or its next call.
func goesOn(s step, p sim.Process) bool {
	return s.event != nil && s.event.Process() == p && (s.event.Kind() == sim.FromCall || localProcess(s) == p)
}

// localProcess returns the process of a step that changes only that process's knowledge, or no process.
func localProcess(s step) sim.Process {
	if e := s.event; e != nil && (isDelivery(e) || e.Kind() == sim.FromCall && e.Answers() || e.Kind() == sim.FromTimer && s.rank == rankMessage) {
		return e.Process()
	}
	return sim.Process{}
}

// repeats reports whether a step requests a sync of a Job that is being synced: another sync follows in either case,
// whether it is requested now or later.
func repeats(s step) bool {
	return s.event != nil && s.event.Kind() == sim.FromTimer && s.rank == rankMessage && s.event.Process().Exists() && s.event.Process().SyncsAny()
}

// isAsking reports whether a call of the process is on its way to the API server.
func isAsking(p sim.Process, all []step) bool {
	return slices.ContainsFunc(all, func(s step) bool {
		return s.event != nil && s.event.Process() == p && s.event.Kind() == sim.FromCall && s.event.Asks()
	})
}

// isDelivery reports whether a watch is about to deliver something.
func isDelivery(e *sim.Event) bool {
	return e.Kind() == sim.FromWatch && (e.Commit() != nil || strings.HasPrefix(e.Text(), "list of "))
}

// ownSteps returns the process's local steps, if no other local step can become possible before they are taken.
func ownSteps(r *run, p sim.Process, all []step) (own []step) {
	delivers := map[resource]bool{}
	for _, s := range all {
		switch e := s.event; {
		case e == nil || e.Process() != p || e.Kind() == sim.FromLateWrite:
		case !localProcess(s).Exists(): // A call or the request of a list arrives at the API server.
			return nil
		default:
			own = append(own, s)
			if isDelivery(e) {
				delivers[resource(strings.HasSuffix(e.Text(), "Jobs"))] = true
			}
		}
	}
	if !delivers[podsOnly] || !delivers[jobsOnly] && jobMayChange(r) {
		return nil
	}
	return own
}

// jobMayChange reports whether anything other than the only process may change the Job.
func jobMayChange(r *run) bool {
	for _, job := range r.world.Store.Jobs() {
		if job.DeletionTimestamp != nil {
			return true
		}
	}
	return r.acted < len(r.user) || slices.ContainsFunc(r.world.Pending(), func(e *sim.Event) bool {
		return e.Kind() == sim.FromCollector || e.Kind() == sim.FromLateWrite
	})
}
