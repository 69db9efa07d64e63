package eventwriter

import (
	"cmp"
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
)

// laneSet holds all lanes, by the object that their events are about.
type laneSet struct {
	of map[types.UID]*objectLanes
	// busy is the number of lanes with pending events, by queue.
	busy  [queues]int
	swept time.Time
}

type objectLanes struct {
	lanes  map[laneKey]*lane
	causes int
	// finished reports whether no more events are expected: idle lanes are not kept.
	finished bool
}

const (
	// maxBusy is the number of lanes of a queue that may have pending events.
	maxBusy = 10_000
	// maxCauses is the number of causes of failures that are reported for one Job.
	maxCauses = 20
	// keepLane is how long an idle lane is kept: until its budget is refilled.
	keepLane = laneBurst * lanePeriod
)

func newLaneSet() laneSet { return laneSet{of: map[types.UID]*objectLanes{}} }

func (ls *laneSet) get(key laneKey) *lane {
	if of := ls.of[key.object]; of != nil {
		return of.lanes[key]
	}
	return nil
}

// add adds a note to its lane, and returns the lane's key, and whether there was room.
func (ls *laneSet) add(key laneKey, about corev1.ObjectReference, kind string, n note) (laneKey, bool) {
	ls.sweep(n.last)
	of := ls.of[key.object]
	if of == nil {
		of = &objectLanes{lanes: map[laneKey]*lane{}}
		ls.of[key.object] = of
	}
	if key.cause != "" && of.lanes[key] == nil && of.causes >= maxCauses {
		key.cause, n.record.Others = cause.Others, true
		n.message = n.record.Message()
	}
	l := of.lanes[key]
	if l == nil {
		l = &lane{laneKey: key, about: about, kind: kind, budget: budget{since: n.last}}
	}
	if l.isIdle() {
		if ls.busy[key.queue()] == maxBusy {
			return key, false
		}
		ls.busy[key.queue()]++
	}
	if of.lanes[key] == nil {
		of.lanes[key] = l
		if key.cause != "" {
			of.causes++
		}
	}
	l.add(n)
	return key, true
}

// wrote marks the event taken from a lane as written or abandoned. It reports whether the lane has more events.
func (ls *laneSet) wrote(l *lane, now time.Time) (more bool) {
	l.stored, l.writing, l.used = l.writing.stored, nil, now
	l.failures, l.retryAt = 0, time.Time{}
	if !l.isIdle() {
		return true
	}
	l.open = false
	ls.busy[l.queue()]--
	if of := ls.of[l.object]; of != nil && of.finished {
		ls.deleteIdle(l.object, now, 0)
	}
	return false
}

// finish opens the lanes of an object about which no more events are expected, and returns their keys as openAll does.
func (ls *laneSet) finish(object types.UID, now time.Time) (opened []laneKey) {
	of := ls.of[object]
	if of == nil {
		return nil
	}
	of.finished = true
	ls.deleteIdle(object, now, 0)
	return openAll(slices.Values([]*objectLanes{of}))
}

// openAll opens the lanes of objects, so that all their events may be written at once. It returns their keys, urgent lanes
// first, then the oldest.
func openAll(objects iter.Seq[*objectLanes]) (opened []laneKey) {
	var found []*lane
	for of := range objects {
		for _, l := range of.lanes {
			if !l.isIdle() {
				l.open, l.retryAt = true, time.Time{}
				found = append(found, l)
			}
		}
	}
	slices.SortFunc(found, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(a.queue(), b.queue()), a.since().Compare(b.since()), cmp.Compare(a.reason, b.reason), cmp.Compare(a.cause, b.cause))
	})
	for _, l := range found {
		opened = append(opened, l.laneKey)
	}
	return opened
}

// sweep periodically deletes lanes that have been idle for a while. It reports whether a deletion was due.
func (ls *laneSet) sweep(now time.Time) bool {
	if now.Sub(ls.swept) < keepLane {
		return false
	}
	ls.swept = now
	for object := range ls.of {
		ls.deleteIdle(object, now, keepLane)
	}
	return true
}

// deleteIdle deletes the lanes of an object that have been idle for minIdle.
func (ls *laneSet) deleteIdle(object types.UID, now time.Time, minIdle time.Duration) {
	of := ls.of[object]
	for key, l := range of.lanes {
		if l.isIdle() && now.Sub(l.used) >= minIdle {
			delete(of.lanes, key)
			if key.cause != "" {
				of.causes--
			}
		}
	}
	if len(of.lanes) == 0 {
		delete(ls.of, object)
	}
}
