package sim

import (
	"container/heap"
	"fmt"
	"iter"
	"math"
	"runtime/debug"
	"time"
)

// routine is something that takes virtual time in the middle, as a sync does at every
// API call. Whatever else is due happens meanwhile, further routines included; one runs
// at a time, so that a seed still settles everything.
type routine struct {
	resume func()
	yield  func(struct{}) bool
}

// begin runs do up to where it waits first; the order of events lets it go on.
func (w *World) begin(do func()) {
	r := &routine{}
	next, _ := iter.Pull(func(yield func(struct{}) bool) {
		r.yield = yield
		defer keepStack()
		do()
	})
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

// keepStack adds to a panic where it came from, which the one that resumes cannot know.
func keepStack() {
	if r := recover(); r != nil {
		panic(fmt.Sprintf("%v\n%s", r, debug.Stack()))
	}
}

// wait lets virtual time pass for the routine that calls it: everything that is due
// until then happens first.
func (w *World) wait(d time.Duration) {
	r := w.current
	w.number++
	heap.Push(&w.events, event{at: w.Now().Add(d), tie: math.MaxUint64, number: w.number, do: r.resume})
	r.yield(struct{}{})
}
