package indexmap

import (
	"slices"
	"sort"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Most is the maximum number of indexes in a Map, ten times the maximum of a Job with backoffLimitPerIndex. It prevents a Job
// of 2^31-1 completions from using gigabytes.
const Most = 1 << 20

// Map holds the state of each index. Each index has a place: indexes below the completions come first, at their own numbers;
// those out of range follow without gaps.
type Map struct {
	states []State
	// inRange is the number of places for indexes below the completions; beyond are the indexes at the places after that, in
	// increasing order.
	inRange int
	beyond  []int32
	hidden  int64
	counts  [States]int64
}

// New builds a Map from the lists of a Report. An index in several lists gets its most important state (ready before active),
// an index in no list is pending, and invalid parts of a list are skipped.
func New(x *explain.Indexes) Map {
	m := Map{inRange: int(min(max(x.Total, 0), Most))}
	m.hidden = int64(max(x.Total, 0)) - int64(m.inRange)
	m.readBeyond(x.OutOfRange)
	m.states = make([]State, m.inRange+len(m.beyond))
	m.paint(0, m.inRange, Pending)
	for _, list := range []struct {
		text  string
		state State
	}{
		// Later lists overwrite earlier ones; ready indexes are also in Active.
		{x.Completed, Succeeded}, {x.Active, Active}, {x.Ready, Ready}, {x.Unknown, Unknown},
		{x.Terminating, Terminating}, {x.Retrying, Retrying}, {x.BackingOff, BackOff}, {x.Failed, Failed},
	} {
		each(list.text, int32(m.inRange), func(iv indexset.Interval) { m.paint(int(iv.First), int(iv.Last)+1, list.state) })
	}
	m.paint(m.inRange, len(m.states), OutOfRange)
	m.recount()
	if m.hidden > 0 {
		// The Map does not hold all indexes, but the Report counts them.
		m.counts = [States]int64{
			Succeeded: int64(x.CompletedCount), Retrying: int64(x.RetryingCount),
			Pending: int64(x.PendingCount) - int64(x.RetryingCount),
			Ready:   int64(x.ReadyCount), Active: int64(x.ActiveCount) - int64(x.ReadyCount), Unknown: int64(x.UnknownCount),
			OutOfRange: int64(x.OutOfRangeCount), Terminating: int64(x.TerminatingCount),
			BackOff: int64(x.BackingOffCount), Failed: int64(x.FailedCount),
		}
	}
	return m
}

func (m *Map) paint(first, end int, state State) {
	part := m.states[first:end]
	for i := range part {
		part[i] = state
	}
}

// readBeyond collects the indexes out of range, as far as there is room.
func (m *Map) readBeyond(text string) {
	if m.hidden > 0 {
		return // They would follow indexes that the Map does not hold.
	}
	room := Most - m.inRange
	each(text, 1<<31-1, func(iv indexset.Interval) {
		for i := max(int64(iv.First), int64(m.inRange)); i <= int64(iv.Last); i++ {
			if len(m.beyond) == room {
				m.hidden += int64(iv.Last) - i + 1
				return
			}
			m.beyond = append(m.beyond, int32(i))
		}
	})
}

// each yields the intervals of a list below a limit. Sorted lists, which are the usual case, are not kept in memory.
func each(text string, limit int32, yield func(indexset.Interval)) {
	for iv, err := range indexset.Scan(text) {
		if err != nil {
			set, _ := indexset.ParseTolerant(text, limit)
			for iv := range set.Intervals() {
				yield(iv)
			}
			return
		}
		if iv.First < limit {
			yield(indexset.Interval{First: iv.First, Last: min(iv.Last, limit-1)})
		}
	}
}

func (m *Map) recount() {
	m.counts = [States]int64{}
	for _, s := range m.states {
		m.counts[s]++
	}
}

// Choose returns the Map with these indexes in the state Chosen. If the Map does not hold all indexes, the counts stay.
func (m *Map) Choose(indexes indexset.Set) Map {
	chosen := *m
	chosen.states = slices.Clone(m.states)
	for iv := range indexes.Intersection(indexset.Below(int32(m.inRange))).Intervals() {
		chosen.paint(int(iv.First), int(iv.Last)+1, Chosen)
	}
	if m.hidden == 0 {
		chosen.recount()
	}
	return chosen
}

// Len returns the number of indexes in the Map.
func (m *Map) Len() int { return len(m.states) }

// Hidden returns the number of indexes that the Map does not hold, see Most.
func (m *Map) Hidden() int64 { return m.hidden }

// Count returns the number of indexes in a state, including those that the Map does not hold.
func (m *Map) Count(s State) int64 { return m.counts[s] }

// State returns the state of an index, or false if the Map does not hold it.
func (m *Map) State(index int32) (State, bool) {
	at := m.place(index)
	if at >= len(m.states) || m.index(at) != index {
		return 0, false
	}
	return m.states[at], true
}

// First returns the lowest index; 0 for an empty Map.
func (m *Map) First() int32 { return m.index(0) }

// Last returns the highest index; 0 for an empty Map.
func (m *Map) Last() int32 { return m.index(len(m.states) - 1) }

// Next returns the next index after another one whose state is in the set. It wraps around, so it may return the same index;
// false if there is none.
func (m *Map) Next(after int32, in Set) (int32, bool) { return m.find(after, 1, in) }

// Previous is like Next in the opposite direction.
func (m *Map) Previous(before int32, in Set) (int32, bool) { return m.find(before, -1, in) }

func (m *Map) find(from int32, step int, in Set) (int32, bool) {
	n := len(m.states)
	at := min(m.place(from), n-1)
	for range n {
		at = (at + step + n) % n
		if in.Has(m.states[at]) {
			return m.index(at), true
		}
	}
	return 0, false
}

// place returns the place of an index, or of the next higher index in the Map: Len after the last.
func (m *Map) place(index int32) int {
	if int(index) < m.inRange {
		return max(int(index), 0)
	}
	at, _ := slices.BinarySearch(m.beyond, index)
	return m.inRange + at
}

// index returns the index at a place.
func (m *Map) index(at int) int32 {
	if at >= m.inRange && at-m.inRange < len(m.beyond) {
		return m.beyond[at-m.inRange]
	}
	return int32(max(0, min(at, m.inRange-1)))
}

// Indexes returns the indexes from first to last, inclusive, whose state is in the set, up to n of them.
func (m *Map) Indexes(first, last int32, in Set, n int) []int32 {
	var out []int32
	end := sort.Search(len(m.states), func(at int) bool { return m.index(at) > last })
	for at := m.place(first); at < end && len(out) < n; at++ {
		if in.Has(m.states[at]) {
			out = append(out, m.index(at))
		}
	}
	return out
}
