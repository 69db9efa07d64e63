package prove

// liveRuns are runs that are in the state of a node: it is expanded without a replay.
type liveRuns struct {
	of map[int32]*run
	// order are the nodes in the order in which they came, also those that are no longer there.
	order []int32
}

// maxLive bounds the memory that runs take, some 100 kB each.
const maxLive = 2000

// keep keeps the run of a node, or not: the first ones are needed first in a wide search, otherwise
// the last ones.
func (l *liveRuns) keep(id int32, r *run, wide bool) {
	for !wide && len(l.of) >= maxLive {
		if oldest := l.take(l.order[0]); oldest != nil {
			oldest.abandon()
		}
		l.order = l.order[1:]
	}
	if len(l.of) >= maxLive {
		r.abandon()
		return
	}
	l.of[id], l.order = r, append(l.order, id)
}

// take returns the run of a node, if there is one.
func (l *liveRuns) take(id int32) *run {
	r := l.of[id]
	delete(l.of, id)
	return r
}

func (l *liveRuns) abandon() {
	for _, r := range l.of {
		r.abandon()
	}
}
