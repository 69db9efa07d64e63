package live

import (
	"slices"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

const (
	// maxEarlyEvents is how many events about unknown pods are kept, and earlyFor how long: events and pods arrive on
	// separate connections, so an event may arrive before its pod.
	maxEarlyEvents = 500
	earlyFor       = 30 * time.Second
)

// earlyEvent is an event about a pod that is unknown, perhaps only for now.
type earlyEvent struct {
	name  string
	event explain.Event
	came  time.Time
}

// setEarly replaces the early events by the latest ones in all.
func (e *events) setEarly(now time.Time, all []earlyEvent) {
	slices.SortStableFunc(all, func(a, b earlyEvent) int { return a.event.Last.Compare(b.event.Last) })
	e.early = slices.Clone(all[max(0, len(all)-maxEarlyEvents):])
	for i := range e.early {
		e.early[i].came = now
	}
}

// putEarly adds an early event, and drops old ones.
func (e *events) putEarly(now time.Time, name string, event explain.Event) {
	e.early = slices.DeleteFunc(e.early, func(old earlyEvent) bool { return old.name == name || now.Sub(old.came) > earlyFor })
	if len(e.early) == maxEarlyEvents {
		e.early = slices.Delete(e.early, 0, 1)
	}
	e.early = append(e.early, earlyEvent{name: name, event: event, came: now})
}

func (e *events) forgetEarly(name string) {
	e.early = slices.DeleteFunc(e.early, func(old earlyEvent) bool { return old.name == name })
}

// match moves the early events about pods that are known by now to the other events.
func (e *events) match(now time.Time, isMine func(pod string) bool) {
	if len(e.early) == 0 {
		return
	}
	e.early = slices.DeleteFunc(e.early, func(early earlyEvent) bool {
		if now.Sub(early.came) > earlyFor {
			return true
		}
		if !isMine(early.event.Pod) {
			return false
		}
		e.put(early.name, early.event)
		return true
	})
}
