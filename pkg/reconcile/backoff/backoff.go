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
// success, and when the latest of them finished. The zero Record knows of none.
type Record struct {
	Failures    int32
	LastFailure time.Time
}

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
// of the two counts holds. A success that finished at or after all failures ends
// the series (JOB-21: at the same time is not after).
func (r Record) After(h History) Record {
	if !r.LastFailure.After(h.LastSuccess) {
		r = Record{}
	}
	visible, last := since(h.failures, h.LastSuccess)
	remembered, _ := since(h.fresh, h.LastSuccess)
	remembered += r.Failures
	if r.LastFailure.After(last) {
		last = r.LastFailure
	}
	return Record{Failures: max(visible, remembered), LastFailure: last}
}

// since counts the times after start, and returns the latest of them.
func since(times []time.Time, start time.Time) (n int32, last time.Time) {
	for _, t := range times {
		if !t.After(start) {
			continue
		}
		n++
		if t.After(last) {
			last = t
		}
	}
	return n, last
}

// Failed returns the Record after one more failure that finished at the time given.
func (r Record) Failed(finished time.Time) Record {
	r.Failures++
	if finished.After(r.LastFailure) {
		r.LastFailure = finished
	}
	return r
}
