package sim

import (
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"time"
)

// routine is a function that waits in virtual time, as a sync does at every API call. Other events that are due happen
// in the meantime, including other routines; only one routine runs at a time, so that the seed still determines
// everything.
type routine struct {
	// process runs the routine; knew is its knowledge when it last planned.
	process *process
	knew    Knowledge
	resume  func()
	yield   func(struct{}) bool
	// stop ends the routine where it waits: its wait returns at once.
	stop func()
}

// Knowledge holds the versions up to which the watches of a process had delivered all events.
type Knowledge struct {
	process    *process
	jobs, pods int64
}

// plans records that the running routine decides based on what its process knows now.
func plans(w *World) {
	if r := w.current; r != nil {
		r.knew = Knowledge{r.process, r.process.jobs.seen, r.process.pods.seen}
	}
}

// begin runs do for a process until its first wait; later events resume it.
func begin(w *World, p *process, do func()) {
	r := &routine{process: p}
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		r.yield = yield
		defer keepStack()
		growStack()
		do()
	})
	r.stop = stop
	r.resume = func() {
		outer := w.current
		w.current = r
		_, waits := next()
		w.current = outer
		if !waits {
			w.busy--
		}
	}
	w.busy++
	r.resume()
}

// growStack grows the stack at once to the size that a sync needs, while there is little to copy.
//
//go:noinline
func growStack() {
	var frame [12 << 10]byte
	runtime.KeepAlive(&frame)
}

// keepStack adds the stack to a panic, which is otherwise lost where the routine is resumed.
func keepStack() {
	if r := recover(); r != nil {
		panic(fmt.Sprintf("%v\n%s", r, debug.Stack()))
	}
}

// wait lets virtual time pass for the calling routine: all events that are due by then happen first.
func wait(w *World, what origin, d time.Duration) {
	r := w.current
	what.routine = r
	w.afterAll(what, d, r.resume)
	r.yield(struct{}{})
}
