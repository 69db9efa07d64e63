// Package backoff computes how long a Job waits after a failure before it creates pods again: 10 s, 20 s, 40 s … and at
// most 10 min (KEP-3850, "Exponential backoff"; JOB-18). The wait starts when the last failed pod finished, not when
// the controller observed it, so a restart neither shortens nor lengthens it. (A failed pod whose status does not show when
// it finished counts from the time at which the controller saw it.)
package backoff

import (
	"cmp"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Policy holds the first wait and the longest wait.
type Policy struct {
	Base time.Duration
	Max  time.Duration
}

// Delay returns the wait after n failures in a row: Base·2^(n-1), at most Max; 0 without a failure.
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

// Failure is a pod that failed, with its finish time.
type Failure struct {
	Pod types.UID
	At  time.Time
}

// Record is the state to remember: the failures since the last success, and the finish times of the latest failure and
// of that success. The zero Record has neither.
type Record struct {
	Failures    int32
	LastFailure time.Time
	LastSuccess time.Time
	// pods are the latest failures, at most maxPods, sorted by time: a pod that is seen again counts once, and a success
	// that is observed late may lie between them. The slice is never changed in place.
	pods []Failure
}

// IsZero reports whether there was neither a failure nor a success.
func (r Record) IsZero() bool { return r.Failures == 0 && r.LastSuccess.IsZero() }

// maxPods is larger than the number of failures that lead to the longest wait: 10 s doubled six times is more than 10
// min.
const maxPods = 16

// Until returns the time at which pods may be created again; the zero time if there was no failure.
func (r Record) Until(p Policy) time.Time {
	if r.Failures == 0 {
		return time.Time{}
	}
	return r.LastFailure.Add(p.Delay(r.Failures))
}

// History holds the failures and successes of the pods that still exist.
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

// Failure adds a failed pod and its finish time.
func (h *History) Failure(pod types.UID, finished time.Time) {
	h.failures = append(h.failures, Failure{pod, finished})
}

// After returns r updated with h.
//
// After a restart, pods are the only evidence; but pods may be deleted while the Job runs, and then only r includes
// them. A success that finished at or after all failures ends the series (JOB-21: a failure at the same time is not
// after the success).
func (r Record) After(h History) Record {
	success := latest(r.LastSuccess, h.LastSuccess)
	failures := since(h.failures, success)
	r = r.since(success).Failed(failures...)
	r.Failures = max(r.Failures, int32(min(len(failures), math.MaxInt32))) // At most MaxInt32.
	return r
}

// Merge returns a Record that includes everything in r and other.
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
		// Failures older than a dropped failure also finished before the success.
		left.Failures = int32(len(left.pods)) // At most maxPods.
	}
	return left
}

// Failed returns the Record with more failures, each of another pod. Failures that r already contains do not count
// again; nor do failures older than all that it remembers: they may have been counted already, and the wait is the
// longest anyway.
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

// insertLatest adds a failure to a sorted list that keeps the latest maxPods failures. A pod may have finished later
// than first observed.
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

// isOf reports whether other is a failure of the same pod.
func (f Failure) isOf(other Failure) bool { return f.Pod == other.Pod }

// compare orders failures by time, then by pod, so that the order does not depend on the order of the pods.
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
