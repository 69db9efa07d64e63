// Package backoff says how long a Job waits after a failure before it creates
// pods again: 10 s, 20 s, 40 s … and at most 10 min (KEP-3850, "Exponential
// backoff"; JOB-18). The wait runs from the time the last failed pod finished,
// never from the time somebody looked, so a restart neither shortens nor
// lengthens it.
package backoff

import (
	"slices"
	"time"
)

// Policy holds the first wait and the longest one.
type Policy struct {
	Base time.Duration
	Max  time.Duration
}

// Delay is the wait after n failures in a row: Base·2^(n-1), at most Max, and
// none without a failure.
func (p Policy) Delay(failures int32) time.Duration {
	if failures <= 0 {
		return 0
	}
	delay := p.Base
	for range failures - 1 {
		if delay >= p.Max {
			break
		}
		delay *= 2
	}
	return min(delay, p.Max)
}

// Record is what has to be known of the past: the failures since the last
// success, and when the latest of them and that success finished. The zero Record
// knows of none.
type Record struct {
	Failures    int32
	LastFailure time.Time
	LastSuccess time.Time
	// times are when the latest of the failures finished, at most maxTimes of them, in
	// order: a success that is observed late may lie between them. Never changed in place.
	times []time.Time
}

// maxTimes is more failures than any wait grows with: 10 s doubled six times is beyond 10 min.
const maxTimes = 16

// Until is when pods may be created again; the zero time if they may be now and
// always could.
func (r Record) Until(p Policy) time.Time {
	if r.Failures == 0 {
		return time.Time{}
	}
	return r.LastFailure.Add(p.Delay(r.Failures))
}

// History is what the pods that still exist say about failures and successes.
type History struct {
	// LastSuccess is when the latest succeeded pod finished.
	LastSuccess time.Time
	failures    []time.Time
	fresh       []time.Time
}

// Clone returns a copy that can be added to on its own.
func (h *History) Clone() History {
	return History{LastSuccess: h.LastSuccess, failures: slices.Clone(h.failures), fresh: slices.Clone(h.fresh)}
}

// Success adds the finish time of a succeeded pod.
func (h *History) Success(finished time.Time) {
	if finished.After(h.LastSuccess) {
		h.LastSuccess = finished
	}
}

// Failure adds the finish time of a failed pod. fresh says that no Record can
// know of it yet: the Job's status does not count it so far.
func (h *History) Failure(finished time.Time, fresh bool) {
	h.failures = append(h.failures, finished)
	if fresh {
		h.fresh = append(h.fresh, finished)
	}
}

// After returns the Record that follows r once h has been seen.
//
// Pods are the better witnesses, and after a restart the only ones; but they may
// be deleted while the Job runs, and then only r still knows them. So the larger
// of the two counts holds, and the later of the two successes. A success that
// finished at or after all failures ends the series (JOB-21: at the same time is
// not after).
func (r Record) After(h History) Record {
	success := latest(r.LastSuccess, h.LastSuccess)
	remembered := r.since(success).Failed(since(h.fresh, success)...)
	seen := Record{LastSuccess: success}.Failed(since(h.failures, success)...)
	if seen.Failures <= remembered.Failures {
		return remembered
	}
	seen.LastFailure = latest(seen.LastFailure, remembered.LastFailure)
	return seen
}

// since leaves out the failures that finished before a success, as far as it is
// known when they did.
func (r Record) since(success time.Time) Record {
	left := Record{LastSuccess: success}
	if !r.LastFailure.After(success) {
		return left
	}
	left.LastFailure = r.LastFailure
	left.times = since(r.times, success)
	left.Failures = r.Failures
	if len(left.times) < len(r.times) {
		// What is older than one that is left out is before the success, too.
		left.Failures = int32(len(left.times)) //nolint:gosec // At most maxTimes.
	}
	return left
}

// Failed returns the Record after more failures that finished at the times given.
func (r Record) Failed(finished ...time.Time) Record {
	if len(finished) == 0 {
		return r
	}
	r.times = slices.Clone(r.times)
	for _, t := range finished {
		r.Failures++
		r.LastFailure = latest(r.LastFailure, t)
		r.times = insertLatest(r.times, t)
	}
	return r
}

// insertLatest adds a time to a sorted list that keeps the latest maxTimes.
func insertLatest(times []time.Time, t time.Time) []time.Time {
	if len(times) == maxTimes {
		if !t.After(times[0]) {
			return times
		}
		times = times[:copy(times, times[1:])]
	}
	at, _ := slices.BinarySearchFunc(times, t, time.Time.Compare)
	return slices.Insert(times, at, t)
}

// since returns the times after start.
func since(times []time.Time, start time.Time) (after []time.Time) {
	for _, t := range times {
		if t.After(start) {
			after = append(after, t)
		}
	}
	return after
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
