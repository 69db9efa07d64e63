package indexmap

import (
	"slices"
	"sort"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Most is how many indexes a Map holds at most, ten times what a Job with a limit per index
// may have. It keeps a Job of 2^31-1 completions from taking gigabytes.
const Most = 1 << 20

// Map holds the state of each index. Indexes have places: those below the completions come
// first, each at its own number; those out of range follow, without the gap between.
type Map struct {
	states []State
	// inRange is how many places are for indexes below the completions; beyond are the
	// indexes of the places after them, increasing.
	inRange int
	beyond  []int32
	hidden  int64
	counts  [States]int64
}

// New reads the lists of a Report. It takes them as they are: an index that is in several
// has the state that matters most (ready more than active), one that is in none is pending, and what cannot be read
// is left out.
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
		// Later ones are painted over earlier ones; those that are ready are active too.
		{x.Completed, Succeeded}, {x.Active, Active}, {x.Ready, Ready}, {x.Unknown, Unknown},
		{x.Terminating, Terminating}, {x.Retrying, Retrying}, {x.BackingOff, BackOff}, {x.Failed, Failed},
	} {
		each(list.text, int32(m.inRange), func(iv indexset.Interval) { m.paint(int(iv.First), int(iv.Last)+1, list.state) })
	}
	m.paint(m.inRange, len(m.states), OutOfRange)
	m.count(x)
	return m
}

func (m *Map) paint(first, end int, state State) {
	part := m.states[first:end]
	for i := range part {
		part[i] = state
	}
}

// readBeyond collects the indexes that are out of range, as far as there is room.
func (m *Map) readBeyond(text string) {
	if m.hidden > 0 {
		return // They would follow indexes that are not there.
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

// each yields the intervals of a list below a limit. Lists are in order as a rule, and then
// nothing is kept of them.
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

// count counts the states, or takes the numbers of the Report if not all indexes are here.
func (m *Map) count(x *explain.Indexes) {
	if m.hidden > 0 {
		m.counts = [States]int64{
			Succeeded: int64(x.CompletedCount), Pending: int64(x.PendingCount) - int64(x.RetryingCount), Retrying: int64(x.RetryingCount), Ready: int64(x.ReadyCount),
			Active: int64(x.ActiveCount) - int64(x.ReadyCount), Unknown: int64(x.UnknownCount), OutOfRange: int64(x.OutOfRangeCount),
			Terminating: int64(x.TerminatingCount), BackOff: int64(x.BackingOffCount), Failed: int64(x.FailedCount),
		}
		return
	}
	m.recount()
}

func (m *Map) recount() {
	m.counts = [States]int64{}
	for _, s := range m.states {
		m.counts[s]++
	}
}

// Choose returns the Map with these indexes in the state Chosen. What it does not hold stays counted as it was.
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

// Len is how many indexes the Map holds.
func (m *Map) Len() int { return len(m.states) }

// Hidden is how many indexes there are that the Map does not hold, see Most.
func (m *Map) Hidden() int64 { return m.hidden }

// Count is how many indexes are in a state, of those that the Map does not hold too.
func (m *Map) Count(s State) int64 { return m.counts[s] }

// State is that of an index; false if the Map does not hold it.
func (m *Map) State(index int32) (State, bool) {
	at := m.place(index)
	if at >= len(m.states) || m.index(at) != index {
		return 0, false
	}
	return m.states[at], true
}

// First and Last are the lowest and the highest index; 0 for an empty Map.
func (m *Map) First() int32 { return m.index(0) }

// Last is the highest index; 0 for an empty Map.
func (m *Map) Last() int32 { return m.index(len(m.states) - 1) }

// Next is the first index after another one whose state is in the set; after the
// last it continues with the first, so that it may be the same index. False if there is none.
func (m *Map) Next(after int32, in Set) (int32, bool) { return m.find(after, 1, in) }

// Previous is like Next in the other direction.
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

// place is where an index is, or the next higher one that the Map holds: Len after the last.
func (m *Map) place(index int32) int {
	if int(index) < m.inRange {
		return max(int(index), 0)
	}
	at, _ := slices.BinarySearch(m.beyond, index)
	return m.inRange + at
}

// index is the one at a place.
func (m *Map) index(at int) int32 {
	if at >= m.inRange && at-m.inRange < len(m.beyond) {
		return m.beyond[at-m.inRange]
	}
	return int32(max(0, min(at, m.inRange-1)))
}

// Indexes are those between two, both included, whose state is in a set, as far as there
// is room for them: at most n.
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
