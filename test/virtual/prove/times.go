package prove

import (
	"slices"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
)

// oldTime returns the age from which all times are equally old. No wait is longer: a batch of changes waits for a
// second, and the longest back-off in these worlds is 40 s.
func oldTime(r *run) time.Duration {
	const noWait, backoff = 3 * time.Second, 3 * time.Minute
	if r.exact {
		return backoff
	}
	for _, h := range r.world.Checker.Order {
		if h.Job.Spec.ActiveDeadlineSeconds != nil || slices.ContainsFunc(h.Order, (*checker.Life).Delays) {
			return backoff
		}
	}
	return noWait
}

// anyTime returns a time after the end of any small world.
func anyTime() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }

// unknownSince returns the time of the first event that some process may not know.
func unknownSince(r *run) time.Time {
	at := r.world.Now().Add(1)
	for _, known := range horizons(r) {
		if known.Before(at) {
			at = known
		}
	}
	return at
}

// unknownTo returns the time of the first event that a process does not know.
func unknownTo(r *run, p sim.Process) time.Time {
	return slices.MinFunc(append(p.Undelivered(false), r.world.Now().Add(1)), time.Time.Compare)
}

// horizons returns the times at which undelivered events were stored, and, for each running sync, the time of the first
// event that it may not have known.
func horizons(r *run) []time.Time {
	all := undeliveredAt(r, false)
	for key, c := range r.carriers {
		if _, late := key.(uint64); late || c.begun.process.IsAlive() {
			all = append(all, c.begun.unknown)
		}
	}
	return all
}

// moments returns all times with which the Checker's times may be compared, now or later: times before which a process
// knows everything, and times at which writes in flight were sent.
func moments(r *run) []time.Time {
	all := append(horizons(r), undeliveredAt(r, r.mayFail())...)
	for _, e := range r.world.Pending() {
		if e.Kind() == sim.FromLateWrite {
			all = append(all, r.carriers[e.Number()].asked)
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return slices.CompactFunc(all, time.Time.Equal)
}

// mayFail reports whether another fault is possible, after which a process may no longer know all of its own writes.
func (r *run) mayFail() bool { return r.usedFaults < r.maxFaults }

// knownUntil returns the first time with which a time may be compared, other than the times that are encoded one by one.
func knownUntil(r *run) time.Time {
	return slices.MinFunc(append(undeliveredAt(r, r.mayFail()), unknownSince(r)), time.Time.Compare)
}

// undeliveredAt returns the times at which undelivered events were stored, with or without the process's own writes.
func undeliveredAt(r *run, own bool) (all []time.Time) {
	for _, p := range r.world.Processes() {
		all = append(all, p.Undelivered(own)...)
	}
	return all
}
