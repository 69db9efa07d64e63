package sim

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// timeline is the clock of a World, the random numbers from its seed, and the scheduled events.
type timeline struct {
	clock  *clocktesting.FakeClock
	rng    *rand.Rand
	begun  time.Time
	events eventQueue
	number uint64
}

// Now returns the virtual time.
func (t *timeline) Now() time.Time { return t.clock.Now() }

// Elapsed returns the virtual time since the start.
func (t *timeline) Elapsed() time.Duration { return t.Now().Sub(t.begun) }

// After schedules do. Events at the same time happen in random order.
func (t *timeline) After(wait time.Duration, do func()) { t.schedule(origin{}, wait, do) }

// schedule is like After, for an event with an origin.
func (t *timeline) schedule(from origin, wait time.Duration, do func()) {
	t.number++
	heap.Push(&t.events, &Event{at: t.Now().Add(wait), tie: t.rng.Uint64(), number: t.number, do: do, origin: from})
}

// afterAll schedules do after all other events at that time. It draws no random number.
func (t *timeline) afterAll(from origin, wait time.Duration, do func()) {
	t.number++
	heap.Push(&t.events, &Event{at: t.Now().Add(wait), tie: math.MaxUint64, number: t.number, do: do, origin: from})
}

// random returns a duration between zero and most.
func (t *timeline) random(most time.Duration) time.Duration {
	return time.Duration(t.rng.Int64N(int64(most) + 1))
}

// Perm draws an order of n things from the seed.
func (t *timeline) Perm(n int) []int { return t.rng.Perm(n) }

// Pending returns the scheduled events, in no particular order. World.Do runs any of them next. The slice is valid
// until then.
func (t *timeline) Pending() []*Event { return t.events }

// Scheduled returns how many events have ever been scheduled: the number of the last one.
func (t *timeline) Scheduled() uint64 { return t.number }

// Steps returns how many events have happened: the arrival of a watch event, the return of an API call, an action of a
// node or of a user, a timer.
func (t *timeline) Steps() uint64 { return t.number - uint64(len(t.events)) }

// Event is a scheduled event of a World. Its pointer identifies it until it happens.
type Event struct {
	at     time.Time
	tie    uint64
	number uint64
	do     func()
	origin
}

type eventQueue []*Event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	if !q[i].at.Equal(q[j].at) {
		return q[i].at.Before(q[j].at)
	}
	if q[i].tie != q[j].tie {
		return q[i].tie < q[j].tie
	}
	return q[i].number < q[j].number
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(e any)   { *q = append(*q, e.(*Event)) }
func (q *eventQueue) Pop() any {
	last := (*q)[len(*q)-1]
	(*q)[len(*q)-1] = nil // It refers to pods that have changed since.
	*q = (*q)[:len(*q)-1]
	return last
}
