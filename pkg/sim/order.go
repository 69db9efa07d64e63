package sim

import (
	"container/heap"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// origin is where an event comes from, for a Decider: what may happen in any order, and what
// happens at its time.
type origin struct {
	kind EventKind
	// process is the controller process that the event is for, if there is one, routine the
	// sync that continues then. text is what happens,
	// commit what a watch delivers, and call the call that is on its way.
	process *process
	routine *routine
	text    string
	commit  *Commit
	call    Call
	// version is what a list shows.
	version int64
	// void, if set, reports whether the event no longer does anything.
	void func() bool
}

// EventKind is what an event depends on apart from its time.
type EventKind uint8

const (
	// FromTimer is the zero kind: the event happens at its time.
	FromTimer EventKind = iota
	// FromCall is the progress of an API call.
	FromCall
	// FromWatch is the progress of a watch, whose events come in order.
	FromWatch
	// FromLateWrite is a write for whose answer nobody waits.
	FromLateWrite
	// FromNode is what the kubelet does.
	FromNode
	// FromCollector is what the garbage collectors do.
	FromCollector
)

// Decider decides what the seed of a World decides otherwise, so that a test can try every order of events. It lets
// them happen itself, with World.Pending and World.Do, instead of World.RunUntil.
type Decider interface {
	// Fault is what goes wrong with a call that has arrived at the API server.
	Fault(c Call) Fault
	// WatchFault is what goes wrong with a watch event that is about to arrive.
	WatchFault() WatchFault
	// Next returns which of the n operations of a stage that are left is carried out next.
	Next(n int) int
	// Grain is how exact the times of a process are. What happens within a grain happens at one moment for
	// it, whatever the order.
	Grain() time.Duration
	// End returns how a pod ends whose act is given.
	End(pod *corev1.Pod, act *Act, terminated bool) *Act
}

// Do lets a pending event happen at a time, which need not be its own.
func (w *World) Do(e *Event, at time.Time) {
	if i := slices.Index(w.events, e); i >= 0 {
		heap.Remove(&w.events, i)
	}
	w.Advance(at)
	e.do()
}

// DropVoid removes the pending events that would do nothing, and ends the syncs of processes that have ended.
func (w *World) DropVoid() {
	w.events = slices.DeleteFunc(w.events, func(e *Event) bool {
		dead := e.kind == FromCall && !e.process.alive
		if dead {
			e.routine.resume()
		}
		return dead || e.IsVoid()
	})
	heap.Init(&w.events)
}

// Abandon ends the syncs of a World that is no longer needed: each waits in a coroutine, which the garbage collector
// does not free.
func (w *World) Abandon() {
	for _, p := range w.processes {
		p.alive = false
	}
	for _, e := range w.events {
		if e.kind == FromCall {
			e.routine.stop()
		}
	}
}

// At is the time of the event.
func (e *Event) At() time.Time { return e.at }

// Number is the place of the event among all events that were ever pending, from 1.
func (e *Event) Number() uint64 { return e.number }

// Kind is what the event depends on apart from its time.
func (e *Event) Kind() EventKind { return e.kind }

// Process is the controller process that the event is for, or none.
func (e *Event) Process() Process { return Process{e.process} }

// Sync identifies the sync that the event continues, or is nil.
func (e *Event) Sync() any {
	if e.routine == nil {
		return nil
	}
	return e.routine
}

// Text is what happens, in words.
func (e *Event) Text() string { return e.text }

// Commit is what a watch delivers, or nil.
func (e *Event) Commit() *Commit { return e.commit }

// Call is the API call that is on its way, if the Kind is FromCall.
func (e *Event) Call() Call { return e.call }

// Asks reports whether a call is on its way to the API server, and Answers whether its answer is on its way back.
func (e *Event) Asks() bool { return e.kind == FromCall && e.text == asking }

// Answers reports whether the answer to a call is on its way.
func (e *Event) Answers() bool { return e.kind == FromCall && e.text == answering }

// Version is the version that a list shows.
func (e *Event) Version() int64 { return e.version }

// IsVoid reports whether the event would do nothing.
func (e *Event) IsVoid() bool { return e.void != nil && e.void() }
