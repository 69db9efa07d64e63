package controller

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
)

// lanes are all lanes there are.
type lanes struct {
	of map[types.UID]*objectLanes
	// busy is how many lanes have something to write, by queue.
	busy  [queues]int
	swept time.Time
}

type objectLanes struct {
	lanes  map[laneKey]*lane
	causes int
}

const (
	// maxBusy is how many lanes of a queue may have something to write.
	maxBusy = 10_000
	// maxCauses is how many causes of failures are told of one Job.
	maxCauses = 20
	// keepLane is how long a lane is kept that has nothing to write: its budget is whole again then.
	keepLane = laneBurst * lanePeriod
)

func newLanes() lanes { return lanes{of: map[types.UID]*objectLanes{}} }

func (ls *lanes) get(key laneKey) *lane {
	if of := ls.of[key.object]; of != nil {
		return of.lanes[key]
	}
	return nil
}

// add puts a note into its lane, and returns which that is. It reports whether there was
// room.
func (ls *lanes) add(key laneKey, about corev1.ObjectReference, kind string, n note) (laneKey, bool) {
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

// wrote takes that what was taken from a lane is written, or never will be. It reports
// whether the lane has more.
func (ls *lanes) wrote(l *lane, now time.Time) (more bool) {
	l.stored, l.writing, l.used = l.writing.stored, nil, now
	l.failures, l.retryAt = 0, time.Time{}
	if !l.isIdle() {
		return true
	}
	l.open = false
	ls.busy[l.queue()]--
	return false
}

// openAll lets all be written at once that an object's lanes hold, or all lanes for "". It
// returns those lanes, urgent ones first, and then the oldest.
func (ls *lanes) openAll(object types.UID) (opened []laneKey) {
	var found []*lane
	for uid, of := range ls.of {
		if object != "" && uid != object {
			continue
		}
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

// sweep now and then forgets lanes that nothing was said in for a while. It reports
// whether it was time.
func (ls *lanes) sweep(now time.Time) bool {
	if now.Sub(ls.swept) < keepLane {
		return false
	}
	ls.swept = now
	for uid, of := range ls.of {
		for key, l := range of.lanes {
			if l.isIdle() && now.Sub(l.used) >= keepLane {
				delete(of.lanes, key)
				if key.cause != "" {
					of.causes--
				}
			}
		}
		if len(of.lanes) == 0 {
			delete(ls.of, uid)
		}
	}
	return true
}
