// Package indexset is the algebra of completion indexes: sets of small
// non-negative numbers, kept as sorted intervals and printed in the format of
// status.completedIndexes and status.failedIndexes.
//
// Every operation costs O(intervals), never O(indexes), so that a Job of 10^5 indexes that finished in order costs as
// much as a Job of one index.
//
// A Set is a value: no operation changes its operands. The zero Set is empty.
package indexset

import (
	"cmp"
	"iter"
	"slices"
)

// Interval is the run of indexes First..Last, both included.
type Interval struct{ First, Last int32 }

// Len returns the number of indexes in the interval.
func (iv Interval) Len() int { return int(iv.Last) - int(iv.First) + 1 }

// Set is a set of indexes in 0..MaxInt32.
type Set struct {
	// runs is sorted, and between two neighbors at least one index is missing:
	// equal sets have equal runs.
	runs []Interval
}

// Of returns the set of the given indexes, in any order and with repetitions.
// Negative indexes are left out.
func Of(indexes ...int32) Set {
	if !slices.IsSorted(indexes) {
		indexes = slices.Clone(indexes)
		slices.Sort(indexes)
	}
	var s Set
	for _, i := range indexes {
		if i >= 0 {
			s.append(Interval{i, i})
		}
	}
	return s
}

// OfIntervals returns the union of the given intervals, in any order and possibly overlapping. Intervals that are
// reversed or begin below zero are left out.
func OfIntervals(intervals ...Interval) Set {
	return join(slices.DeleteFunc(slices.Clone(intervals), func(iv Interval) bool {
		return iv.First < 0 || iv.Last < iv.First
	}))
}

// join returns the union of valid intervals, which it may overwrite.
func join(intervals []Interval) Set {
	order := func(a, b Interval) int { return cmp.Compare(a.First, b.First) }
	if !slices.IsSortedFunc(intervals, order) {
		slices.SortFunc(intervals, order)
	}
	s := Set{runs: intervals[:0]} // An element is overwritten only after it was read.
	for _, iv := range intervals {
		s.append(iv)
	}
	return s
}

// Below returns the set 0..limit-1.
func Below(limit int32) Set {
	if limit <= 0 {
		return Set{}
	}
	return Set{runs: []Interval{{0, limit - 1}}}
}

// append adds an interval that begins at or after the first index of the last run. It may write to the slice's spare
// capacity, so only constructors may use it, on slices that they own.
func (s *Set) append(iv Interval) {
	if n := len(s.runs); n > 0 && int64(iv.First) <= int64(s.runs[n-1].Last)+1 {
		s.runs[n-1].Last = max(s.runs[n-1].Last, iv.Last)
		return
	}
	s.runs = append(s.runs, iv)
}

// IsEmpty reports whether the set has no index.
func (s Set) IsEmpty() bool { return len(s.runs) == 0 }

// Len returns the number of indexes in the set.
func (s Set) Len() int {
	n := 0
	for _, iv := range s.runs {
		n += iv.Len()
	}
	return n
}

// Intervals yields the maximal runs of the set in increasing order.
func (s Set) Intervals() iter.Seq[Interval] { return slices.Values(s.runs) }

// All yields every index in increasing order.
func (s Set) All() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, iv := range s.runs {
			for i := int64(iv.First); i <= int64(iv.Last); i++ {
				if !yield(int32(i)) {
					return
				}
			}
		}
	}
}

// Contains reports whether index i is in the set, in O(log intervals).
func (s Set) Contains(i int32) bool {
	at, exact := slices.BinarySearchFunc(s.runs, i, byFirst)
	if exact {
		return true
	}
	return at > 0 && i <= s.runs[at-1].Last
}

// Equal reports whether both sets have the same indexes.
func (s Set) Equal(t Set) bool { return slices.Equal(s.runs, t.runs) }

// Union returns the indexes in s or t.
func (s Set) Union(t Set) Set {
	if s.IsEmpty() {
		return t
	}
	if t.IsEmpty() {
		return s
	}
	out := Set{runs: make([]Interval, 0, len(s.runs)+len(t.runs))}
	i, j := 0, 0
	for i < len(s.runs) || j < len(t.runs) {
		if j == len(t.runs) || i < len(s.runs) && s.runs[i].First <= t.runs[j].First {
			out.append(s.runs[i])
			i++
		} else {
			out.append(t.runs[j])
			j++
		}
	}
	return out
}

// Intersection returns the indexes in both s and t.
func (s Set) Intersection(t Set) Set {
	if s.IsEmpty() || t.IsEmpty() {
		return Set{}
	}
	var out Set
	i, j := 0, 0
	for i < len(s.runs) && j < len(t.runs) {
		a, b := s.runs[i], t.runs[j]
		first, last := max(a.First, b.First), min(a.Last, b.Last)
		if first <= last {
			out.append(Interval{first, last})
		}
		if a.Last < b.Last {
			i++
		} else {
			j++
		}
	}
	return out
}

// Difference returns the indexes in s that are not in t.
func (s Set) Difference(t Set) Set {
	if s.IsEmpty() || t.IsEmpty() {
		return s
	}
	// Each run of t that lies within s adds at most one.
	from, _ := slices.BinarySearchFunc(t.runs, s.runs[0].First, byFirst)
	to, _ := slices.BinarySearchFunc(t.runs, s.runs[len(s.runs)-1].Last, byFirst)
	out := Set{runs: make([]Interval, 0, len(s.runs)+max(0, to-from)+1)}
	for iv := range s.without(t) {
		out.runs = append(out.runs, iv)
	}
	return out
}

// byFirst compares the start of an interval with an index.
func byFirst(iv Interval, i int32) int { return cmp.Compare(iv.First, i) }

// without yields the runs of s without t, in increasing order.
func (s Set) without(t Set) iter.Seq[Interval] {
	return func(yield func(Interval) bool) {
		j := 0
		for _, run := range s.runs {
			next := int64(run.First)
			for ; j < len(t.runs) && t.runs[j].First <= run.Last; j++ {
				hole := t.runs[j]
				if next < int64(hole.First) && !yield(Interval{int32(next), hole.First - 1}) {
					return
				}
				next = max(next, int64(hole.Last)+1)
				if hole.Last > run.Last {
					break // It may reach into the next run.
				}
			}
			if next <= int64(run.Last) && !yield(Interval{int32(next), run.Last}) {
				return
			}
		}
	}
}

// Pieces yields 0..limit-1 in increasing intervals, as long as possible, such that each set contains all indexes of an
// interval or none: a value that depends only on the sets is the same for all of them. Each index in alone is an
// interval of its own.
func Pieces(limit int32, alone Set, sets ...Set) iter.Seq[Interval] {
	sets = append(sets[:len(sets):len(sets)], alone)
	return func(yield func(Interval) bool) {
		at := make([]int, len(sets))
		for first := int64(0); first < int64(limit); {
			end := int64(limit)
			for i, s := range sets {
				for at[i] < len(s.runs) && int64(s.runs[at[i]].Last) < first {
					at[i]++
				}
				if at[i] == len(s.runs) {
					continue
				}
				run := s.runs[at[i]]
				if end = min(end, int64(run.Last)+1); int64(run.First) > first {
					end = min(end, int64(run.First))
				}
			}
			if alone.Contains(int32(first)) {
				end = first + 1
			}
			if !yield(Interval{int32(first), int32(end - 1)}) {
				return
			}
			first = end
		}
	}
}

// FirstMissing returns the n lowest indexes below limit that are not in the set, or
// fewer if fewer are missing.
func (s Set) FirstMissing(n int, limit int32) []int32 {
	if n <= 0 {
		return nil
	}
	var out []int32
	for iv := range Below(limit).without(s) {
		for i := int64(iv.First); i <= int64(iv.Last); i++ {
			if out = append(out, int32(i)); len(out) == n {
				return out
			}
		}
	}
	return out
}
