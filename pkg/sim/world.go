package sim

import (
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Options shape a World. Zero values get the default.
type Options struct {
	Seed uint64
	// Latency is the longest time an API call takes; each takes a random part.
	// Default 4 ms.
	Latency time.Duration
	// Lag is the longest time a watch event is on its way. Default 20 ms.
	Lag time.Duration
	// Controller is the configuration under test; Client and Clock are ignored. Limits
	// that are all zero stand for reconcile.DefaultConfig, with all features on.
	Controller controller.Config
	// MaxWrites is how many writes, and how many API calls, are more than the world needs:
	// RunUntil gives up then. 0 for no limit.
	MaxWrites int
	// QPS is how many API calls per second the controller's client may make; 0 for no limit.
	QPS float64
	// Workers is how many Jobs are synced at once; 0 for no limit.
	Workers int
	// OnSync, if set, is told how long each sync took, in virtual time.
	OnSync func(took time.Duration)
	// OnCommit, if set, is told of each write when it is stored.
	OnCommit func(Commit)
	// Fault, if set, is asked about every API call of the controller, WatchFault about
	// every event that a watch brings to it.
	Fault      func(Call) Fault
	WatchFault func() WatchFault
	// Successor is what a process is like that takes over from one that crashed.
	Successor ProcessOptions
}

// World is a cluster with a controller process, or two, a clock, and an order of events.
type World struct {
	Options
	Store    *Store
	observer observer
	clock    *clocktesting.FakeClock
	rng      *rand.Rand
	begun    time.Time
	events   eventQueue
	number   uint64
	// current is the routine that runs, busy how many there are.
	current *routine
	busy    int
	calls   int
	// gaveUp is why RunUntil gave up, if it did.
	gaveUp  string
	kubelet kubelet
	collector
	// processes are the controller processes that are alive, started what time each that
	// there was began to know of, by number.
	processes []*process
	started   []time.Time
	journal   journal
	// awayUntil is when the API server can be reached again, skew how far the clocks of
	// new processes are ahead.
	awayUntil time.Time
	skew      time.Duration
	ctx       context.Context
}

// NewWorld returns a world at its beginning, with the controller running.
func NewWorld(o Options) *World {
	if o.Latency == 0 {
		o.Latency = 4 * time.Millisecond
	}
	if o.Lag == 0 {
		o.Lag = 20 * time.Millisecond
	}
	if o.Controller.Limits == (reconcile.Config{}) {
		o.Controller.Limits = reconcile.DefaultConfig()
	}
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := &World{
		Options: o,
		clock:   clocktesting.NewFakeClock(begun),
		begun:   begun,
		rng:     rand.New(rand.NewPCG(o.Seed, 0)),
		ctx:     klog.NewContext(context.Background(), logr.Discard()),
	}
	w.kubelet = kubelet{
		world: w, scripts: map[string]Script{}, jobs: map[types.UID]string{},
		places: map[types.UID]int{}, made: map[madeFor]int{},
	}
	w.collector = collector{w}
	w.Store = NewStore(w.clock.Now, w.committed)
	w.Store.shared = true
	w.processes = []*process{newProcess(w, ProcessOptions{})}
	return w
}

// Now is the virtual time.
func (w *World) Now() time.Time { return w.clock.Now() }

// Elapsed is the virtual time since the beginning.
func (w *World) Elapsed() time.Duration { return w.Now().Sub(w.begun) }

// after lets do happen later. Events of the same instant happen in random order.
func (w *World) after(wait time.Duration, do func()) {
	w.number++
	heap.Push(&w.events, event{at: w.Now().Add(wait), tie: w.rng.Uint64(), number: w.number, do: do})
}

// random is a duration between zero and most.
func (w *World) random(most time.Duration) time.Duration {
	return time.Duration(w.rng.Int64N(int64(most) + 1))
}

// step lets the next event happen; it reports whether there was one by limit, or any
// while something is under way.
func (w *World) step(limit time.Time) bool {
	if len(w.events) == 0 || w.busy == 0 && w.events[0].at.After(limit) {
		return false
	}
	e := heap.Pop(&w.events).(event)
	w.advance(e.at)
	e.do()
	return true
}

// advance sets the clock, unless it is later already.
func (w *World) advance(to time.Time) {
	if to.After(w.Now()) {
		w.notify(clockAdvancing{to})
		w.clock.SetTime(to)
	}
}

// RunUntil lets events happen until the condition holds or the limit has passed.
// It reports whether the condition was reached. What is under way is carried through.
func (w *World) RunUntil(condition func() bool, limit time.Duration) bool {
	end := w.Now().Add(limit)
	for w.busy > 0 || !condition() {
		if w.givesUp() {
			return false
		}
		if !w.step(end) {
			w.advance(end)
			return condition()
		}
	}
	return true
}

// eventsPerWrite is more than each write or call leads to. What happens without either
// need not take any virtual time.
const eventsPerWrite = 50

// givesUp reports whether the controller never comes to an end.
func (w *World) givesUp() bool {
	most := w.MaxWrites
	if most > 0 && w.gaveUp == "" && (max(w.Store.version, int64(w.calls)) > int64(most) || w.number > uint64(eventsPerWrite*most)) {
		w.gaveUp = fmt.Sprintf("more than %d writes and calls, or %d events: %d, %d and %d", most, eventsPerWrite*most, w.Store.version, w.calls, w.number)
		w.notify(gaveUp{w.gaveUp})
	}
	return w.gaveUp != ""
}

// Restart ends every controller process, and starts others that know nothing.
func (w *World) Restart() { w.RestartAs(ProcessOptions{}) }

// RestartAs is Restart with processes that differ.
func (w *World) RestartAs(o ProcessOptions) {
	for _, p := range w.processes {
		w.replace(p, o)
	}
}

// replace ends a controller process, and starts another in its place.
func (w *World) replace(p *process, o ProcessOptions) {
	p.alive = false
	w.notify(processStarted{o})
	w.processes[slices.Index(w.processes, p)] = newProcess(w, o)
}

// SecondLeader starts another process of the same controller beside the first.
func (w *World) SecondLeader(o ProcessOptions) {
	w.notify(processStarted{o})
	w.processes = append(w.processes, newProcess(w, o))
}

// OneLeader ends all processes but the newest.
func (w *World) OneLeader() {
	last := len(w.processes) - 1
	for _, p := range w.processes[:last] {
		p.alive = false
	}
	w.processes = w.processes[last:]
	w.notify(processStarted{})
}

// signature says which process did something, if there are several.
func (w *World) signature(process int) string {
	if len(w.processes) < 2 || process == 0 {
		return ""
	}
	return fmt.Sprintf(" (process %d)", process)
}

func (w *World) committed(c Commit) {
	if w.OnCommit != nil {
		w.OnCommit(c)
	}
	w.journal.add(c, w.Now())
	w.notify(c)
	w.kubelet.committed(c)
	for _, p := range w.processes {
		p.jobs.deliver(c)
		p.pods.deliver(c)
	}
	w.collector.committed(c)
}

type event struct {
	at     time.Time
	tie    uint64
	number uint64
	do     func()
}

type eventQueue []event

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
func (q *eventQueue) Push(e any)   { *q = append(*q, e.(event)) }
func (q *eventQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
