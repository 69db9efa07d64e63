// Package backoff computes how long a Job waits after a failure before it creates
// pods again: 10 s, 20 s, 40 s … and at most 10 min (KEP-3850, "Exponential backoff";
// JOB-18). The wait starts when the last failed pod finished, not when it was
// observed, so a restart neither shortens nor lengthens it.
package backoff

import (
	"cmp"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
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

// Failure is a pod that failed, and when it finished.
type Failure struct {
	Pod types.UID
	At  time.Time
}

// Record is what to remember of the past: the failures since the last success, and
// when the latest of them and that success finished. The zero Record has neither.
type Record struct {
	Failures    int32
	LastFailure time.Time
	LastSuccess time.Time
	// pods are the latest failures, at most maxPods, in the order of their times: a pod that is seen
	// again counts once, and a success that is observed late may lie between them. Never changed in place.
	pods []Failure
}

// IsZero reports whether there was neither a failure nor a success.
func (r Record) IsZero() bool { return r.Failures == 0 && r.LastSuccess.IsZero() }

// maxPods is more failures than it takes to reach the longest wait: 10 s doubled six times is
// beyond 10 min.
const maxPods = 16

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
	failures    []Failure
}

// Clone returns a copy that shares no memory with h.
func (h *History) Clone() History {
	return History{LastSuccess: h.LastSuccess, failures: slices.Clone(h.failures)}
}

// Success adds the finish time of a succeeded pod.
func (h *History) Success(finished time.Time) { h.LastSuccess = latest(h.LastSuccess, finished) }

// Failure adds a failed pod, and when it finished.
func (h *History) Failure(pod types.UID, finished time.Time) {
	h.failures = append(h.failures, Failure{pod, finished})
}

// After returns r updated with what h shows.
//
// After a restart, pods are the only evidence; but they may be deleted while the Job runs, and then
// only r includes them. A success that finished at or after all failures ends the
// series (JOB-21: at the same time is not after).
func (r Record) After(h History) Record {
	success := latest(r.LastSuccess, h.LastSuccess)
	failures := since(h.failures, success)
	r = r.since(success).Failed(failures...)
	r.Failures = max(r.Failures, int32(min(len(failures), math.MaxInt32))) //nolint:gosec // At most MaxInt32.
	return r
}

// Merge returns the Record that includes all that r and other do.
func (r Record) Merge(other Record) Record {
	success := latest(r.LastSuccess, other.LastSuccess)
	r, other = r.since(success), other.since(success)
	merged := r.Failed(other.pods...)
	merged.Failures = max(merged.Failures, other.Failures)
	merged.LastFailure = latest(merged.LastFailure, other.LastFailure)
	return merged
}

// since drops the failures that finished before a success, as far as their times are
// known.
func (r Record) since(success time.Time) Record {
	left := Record{LastSuccess: success}
	if !r.LastFailure.After(success) {
		return left
	}
	left.LastFailure = r.LastFailure
	left.pods = since(r.pods, success)
	left.Failures = r.Failures
	if len(left.pods) < len(r.pods) {
		// Failures older than one that is dropped are before the success, too.
		left.Failures = int32(len(left.pods)) //nolint:gosec // At most maxPods.
	}
	return left
}

// Failed returns the Record with more failures, each of another pod. Those that it has already do not count again;
// nor do those older than everything it remembers: they may have been counted already, and the wait is the longest anyway.
func (r Record) Failed(failures ...Failure) Record {
	if len(failures) == 0 {
		return r
	}
	known := r.pods
	r.pods = slices.Clone(known)
	for _, f := range failures {
		if len(known) == maxPods && compare(f, known[0]) <= 0 {
			continue
		}
		r.LastFailure = latest(r.LastFailure, f.At)
		if !slices.ContainsFunc(known, f.isOf) {
			r.Failures++
		}
		r.pods = insertLatest(r.pods, f)
	}
	return r
}

// insertLatest adds a failure to a sorted list that keeps the latest maxPods. A pod may have finished
// later than what was seen of it first.
func insertLatest(list []Failure, f Failure) []Failure {
	if len(list) == maxPods && compare(f, list[0]) <= 0 {
		return list
	}
	switch known := slices.IndexFunc(list, f.isOf); {
	case known >= 0 && compare(f, list[known]) <= 0:
		return list
	case known >= 0:
		list = slices.Delete(list, known, known+1)
	case len(list) == maxPods:
		list = slices.Delete(list, 0, 1)
	}
	at, _ := slices.BinarySearchFunc(list, f, compare)
	return slices.Insert(list, at, f)
}

// isOf reports whether other is of the same pod.
func (f Failure) isOf(other Failure) bool { return f.Pod == other.Pod }

// compare orders failures by time, and those of the same time in a way that no order of pods changes.
func compare(a, b Failure) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Pod, b.Pod)) }

// since returns the failures after start.
func since(failures []Failure, start time.Time) (after []Failure) {
	for _, f := range failures {
		if f.At.After(start) {
			after = append(after, f)
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
