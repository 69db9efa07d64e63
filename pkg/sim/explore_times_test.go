package sim

import (
	"slices"
	"time"
)

// oldTime returns from when on everything is equally old. No wait is longer: a batch of changes waits
// for a second, and the longest back-off in these worlds is 40 s.
func (r *run) oldTime() time.Duration {
	const noWait, backoff = 3 * time.Second, 3 * time.Minute
	if r.exact {
		return backoff
	}
	for _, h := range r.world.checker().order {
		if h.job.Spec.ActiveDeadlineSeconds != nil || slices.ContainsFunc(h.order, (*life).delays) {
			return backoff
		}
	}
	return noWait
}

// anyTime is later than everything in a small world.
func anyTime() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }

// unknownSince returns the first moment of which some process may not know.
func (r *run) unknownSince() time.Time {
	at := r.world.Now().Add(1)
	for _, known := range r.horizons() {
		if known.Before(at) {
			at = known
		}
	}
	return at
}

// unknownTo returns the first moment of which a process does not know.
func (r *run) unknownTo(p *process) time.Time {
	return slices.MinFunc(append(r.undeliveredTo(p, false), r.world.Now().Add(1)), time.Time.Compare)
}

// horizons returns when what watches have not delivered was stored, and from when on each sync that
// is running may not have known.
func (r *run) horizons() []time.Time {
	all := r.undeliveredAt(false)
	for key, c := range r.carriers {
		if _, late := key.(uint64); late || c.begun.process.alive {
			all = append(all, c.begun.unknown)
		}
	}
	return all
}

// moments returns all moments that the Checker's times may be compared with, now or later: those
// before which a process knows everything, and when a write in flight was asked for.
func (r *run) moments() []time.Time {
	all := append(r.horizons(), r.undeliveredAt(r.mayFail())...)
	for _, e := range r.world.events {
		if e.kind == fromLateWrite {
			all = append(all, r.carriers[e.number].asked)
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return slices.CompactFunc(all, time.Time.Equal)
}

// mayFail reports whether there may be another fault, after which a process no longer knows all of
// its own writes.
func (r *run) mayFail() bool { return r.usedFaults < r.maxFaults }

// knownUntil returns the first moment that a time may be compared with, apart from those that are
// written one by one.
func (r *run) knownUntil() time.Time {
	return slices.MinFunc(append(r.undeliveredAt(r.mayFail()), r.unknownSince()), time.Time.Compare)
}

// undeliveredAt returns when what some watch has not delivered was stored, with or without what its
// process wrote itself.
func (r *run) undeliveredAt(own bool) (all []time.Time) {
	for _, p := range r.world.processes {
		all = append(all, r.undeliveredTo(p, own)...)
	}
	return all
}

// undeliveredTo is undeliveredAt for the watches of one process.
func (r *run) undeliveredTo(p *process, own bool) (all []time.Time) {
	j := &r.world.journal
	if p.isWorking() {
		for _, s := range []*stream{p.jobs, p.pods} {
			for i := len(j.commits) - len(r.world.since(s.seen)); i < len(j.commits); i++ {
				if c := j.commits[i]; c.isWatched() && c.resource() == s.resource && (own || !p.knowsOfOwn(c)) {
					all = append(all, j.at[i])
				}
			}
		}
	}
	return all
}
