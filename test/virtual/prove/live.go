package prove

// liveRuns holds runs in the state of a node, which can be expanded without a replay.
type liveRuns struct {
	of map[int32]*run
	// order holds the nodes in the order of insertion, including nodes that were removed.
	order []int32
}

// maxLive bounds the memory of the runs, some 100 kB each.
const maxLive = 2000

// keep keeps or drops the run of a node: a wide search needs the first ones first, otherwise the last ones.
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

// take removes and returns the run of a node, or nil.
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
