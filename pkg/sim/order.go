package sim

import (
	"container/heap"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// origin describes an event for a Decider, in particular whether it may happen in any order or only at its time.
type origin struct {
	kind EventKind
	// process is the controller process that the event is for, if any, and routine the sync that then continues. text
	// describes the event; commit is the commit that a watch delivers, and call the call in flight.
	process *process
	routine *routine
	text    string
	commit  *Commit
	call    Call
	// version is the version that a list shows.
	version int64
	// void, if set, reports whether the event no longer has an effect.
	void func() bool
}

// EventKind is the trigger of an event.
type EventKind uint8

const (
	// FromTimer is the zero kind: a timer, so the event happens at its time.
	FromTimer EventKind = iota
	// FromCall is the progress of an API call.
	FromCall
	// FromWatch is the progress of a watch, which delivers its events in order.
	FromWatch
	// FromLateWrite is a write whose caller no longer waits for the response.
	FromLateWrite
	// FromNode is an action of the kubelet.
	FromNode
	// FromCollector is an action of the garbage collectors.
	FromCollector
)

// Decider makes the choices that otherwise depend on the seed of a World, so that a test can try every order of events.
// The test itself runs the events, with World.Pending and World.Do, instead of World.RunUntil.
type Decider interface {
	// Fault returns the fault of a call that has arrived at the API server.
	Fault(c Call) Fault
	// WatchFault returns the fault of a watch event that is about to arrive.
	WatchFault() WatchFault
	// Next returns which of the n remaining operations of a stage is carried out next.
	Next(n int) int
	// Grain is the precision of the times of a process: within a grain, all events happen at the same time for it, in
	// whatever order.
	Grain() time.Duration
	// End returns how a pod ends, given its Act.
	End(pod *corev1.Pod, act *Act, terminated bool) *Act
}

// Do runs a pending event at a time, which need not be its scheduled time.
func (w *World) Do(e *Event, at time.Time) {
	if i := slices.Index(w.events, e); i >= 0 {
		heap.Remove(&w.events, i)
	}
	w.Advance(at)
	e.do()
}

// DropVoid removes the pending events that would have no effect, and ends the syncs of processes that have ended.
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

// Abandon ends the syncs of a World that is no longer needed: each waits in a coroutine, which Go's garbage collector
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

// At returns the scheduled time of the event.
func (e *Event) At() time.Time { return e.at }

// Number returns the position of the event among all events ever scheduled, from 1.
func (e *Event) Number() uint64 { return e.number }

// Kind returns the trigger of the event.
func (e *Event) Kind() EventKind { return e.kind }

// Process returns the controller process that the event is for, or the zero Process.
func (e *Event) Process() Process { return Process{e.process} }

// Sync returns an identity of the sync that the event continues, or nil.
func (e *Event) Sync() any {
	if e.routine == nil {
		return nil
	}
	return e.routine
}

// Text describes the event.
func (e *Event) Text() string { return e.text }

// Commit returns the commit that a watch delivers, or nil.
func (e *Event) Commit() *Commit { return e.commit }

// Call returns the API call in flight, if the Kind is FromCall.
func (e *Event) Call() Call { return e.call }

// Asks reports whether a call is on its way to the API server.
func (e *Event) Asks() bool { return e.kind == FromCall && e.text == asking }

// Answers reports whether the response to a call is on its way back.
func (e *Event) Answers() bool { return e.kind == FromCall && e.text == answering }

// Version returns the version that a list shows.
func (e *Event) Version() int64 { return e.version }

// IsVoid reports whether the event would have no effect.
func (e *Event) IsVoid() bool { return e.void != nil && e.void() }
