// Package backoff computes how long a Job waits after a failure before it creates
// pods again: 10 s, 20 s, 40 s … and at most 10 min (KEP-3850, "Exponential backoff";
// JOB-18). The wait starts when the last failed pod finished, not when it was
// observed, so a restart neither shortens nor lengthens it.
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

// Delay is the wait after n failures in a row: Base·2^(n-1), at most Max; 0 without a
// failure.
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

// Record is what to remember of the past: the failures since the last success, and
// when the latest of them and that success finished. The zero Record has neither.
type Record struct {
	Failures    int32
	LastFailure time.Time
	LastSuccess time.Time
	// times are the finish times of the latest failures, at most maxTimes, in order: a
	// success that is observed late may lie between them. Never changed in place.
	times []time.Time
}

// maxTimes is more failures than it takes to reach the longest wait: 10 s doubled six times is
// beyond 10 min.
const maxTimes = 16

// Until is when pods may be created again; the zero time if there was no failure.
func (r Record) Until(p Policy) time.Time {
	if r.Failures == 0 {
		return time.Time{}
	}
	return r.LastFailure.Add(p.Delay(r.Failures))
}

// History is the failures and successes of the pods that still exist.
type History struct {
	// LastSuccess is when the latest succeeded pod finished.
	LastSuccess time.Time
	failures    []time.Time
	fresh       []time.Time
}

// Clone returns a copy that shares no memory with h.
func (h *History) Clone() History {
	return History{LastSuccess: h.LastSuccess, failures: slices.Clone(h.failures), fresh: slices.Clone(h.fresh)}
}

// Success adds the finish time of a succeeded pod.
func (h *History) Success(finished time.Time) {
	if finished.After(h.LastSuccess) {
		h.LastSuccess = finished
	}
}

// Failure adds the finish time of a failed pod. fresh reports whether no Record can
// include it yet, because the Job's status does not.
func (h *History) Failure(finished time.Time, fresh bool) {
	h.failures = append(h.failures, finished)
	if fresh {
		h.fresh = append(h.fresh, finished)
	}
}

// After returns r updated with what h shows.
//
// Pods are the better evidence, and after a restart the only one; but they may be
// deleted while the Job runs, and then only r includes them. So the larger of the two
// counts wins, and the later of the two successes and of the two failures: another process
// may have counted a later one. A success that finished at or after all failures ends the
// series (JOB-21: at the same time is not after).
func (r Record) After(h History) Record {
	success := latest(r.LastSuccess, h.LastSuccess)
	remembered := r.since(success).Failed(since(h.fresh, success)...)
	seen := Record{LastSuccess: success}.Failed(since(h.failures, success)...)
	last := latest(seen.LastFailure, remembered.LastFailure)
	if seen.Failures <= remembered.Failures {
		seen = remembered
	}
	seen.LastFailure = last
	return seen
}

// since drops the failures that finished before a success, as far as their times are
// known.
func (r Record) since(success time.Time) Record {
	left := Record{LastSuccess: success}
	if !r.LastFailure.After(success) {
		return left
	}
	left.LastFailure = r.LastFailure
	left.times = since(r.times, success)
	left.Failures = r.Failures
	if len(left.times) < len(r.times) {
		// Failures older than one that is dropped are before the success, too.
		// The last one may be of another process, whose time is not among them.
		left.Failures = max(1, int32(len(left.times))) //nolint:gosec // At most maxTimes.
	}
	return left
}

// Failed returns the Record with more failures, which finished at the given times.
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
