package cluster

import (
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// pace is how many calls a sync makes at once. If calls only wait for one another in the API
// server, more of them gain nothing, and everybody else waits too: a small Job beside a huge one
// took 180 ms with 32 calls at once, and 80 ms with 8, while the huge one took the same time. So
// there are more calls as long as most are answered within patience times what a call takes that
// need not wait, and fewer otherwise.
type pace struct {
	clock    clock.PassiveClock
	min, max int

	mu    sync.Mutex
	limit int
	// took are the calls since the last decision.
	took []time.Duration
	// unhindered is how long a call takes that need not wait: the least of this period and of the
	// last, so that it follows an API server that has become slower.
	unhindered, before time.Duration
	since              time.Time
}

const (
	// minPace is enough for 500 calls per second that take 16 ms.
	minPace     = 8
	paceWindow  = 64
	pacePeriod  = 10 * time.Minute
	patience    = 5
	paceDivisor = 4 // A decision changes the limit by a quarter.
	// noCall is less than any call takes: there was none.
	noCall = 200 * time.Microsecond
)

func newPace(most int, clock clock.PassiveClock) *pace {
	least := min(minPace, most)
	return &pace{clock: clock, min: least, max: most, limit: least, since: clock.Now()}
}

func (p *pace) now() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// ended notes how long a call took.
func (p *pace) ended(took time.Duration) {
	if took < noCall {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.took = append(p.took, took); len(p.took) < paceWindow {
		return
	}
	slices.Sort(p.took)
	quick, median := p.took[0], p.took[paceWindow/2]
	p.took = p.took[:0]
	if p.clock.Since(p.since) > pacePeriod {
		p.since, p.before, p.unhindered = p.clock.Now(), p.unhindered, 0
	}
	if p.unhindered == 0 || quick < p.unhindered {
		p.unhindered = quick
	}
	least := p.unhindered
	if p.before > 0 {
		least = min(least, p.before)
	}
	step := max(1, p.limit/paceDivisor)
	if median > patience*least {
		step = -step
	}
	p.limit = min(max(p.limit+step, p.min), p.max)
}

// parallel makes calls 0 to n-1 in goroutines, including the caller's.
func (p *pace) parallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	work := func() {
		for i := range next {
			begun := p.clock.Now()
			do(i)
			p.ended(p.clock.Since(begun))
		}
	}
	for range min(n, p.now()) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}
