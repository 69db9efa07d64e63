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
// there are more calls as long as most are answered within patience times what a call of their
// kind takes that need not wait, and fewer otherwise (IDL-09).
type pace struct {
	clock    clock.PassiveClock
	min, max int

	mu    sync.Mutex
	limit int
	// slower is how many times longer than unhindered the calls since the last decision took.
	slower []float64
	kinds  map[string]*unhindered
}

// unhindered is how long a call of one kind takes that need not wait: the least of this period and
// of the last, so that it follows an API server or a webhook that has become slower.
type unhindered struct {
	since       time.Time
	now, before time.Duration
}

const (
	// minPace is enough for 500 calls per second that take 16 ms.
	minPace     = 8
	paceWindow  = 64
	pacePeriod  = 10 * time.Minute
	patience    = 5
	paceDivisor = 4 // A decision changes the limit by a quarter.
)

func newPace(most int, clock clock.PassiveClock) *pace {
	least := min(minPace, most)
	return &pace{clock: clock, min: least, max: most, limit: least, kinds: map[string]*unhindered{}}
}

func (p *pace) now() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// ended notes that a call of a kind, which began at a time, has ended. One that failed tells
// nothing: it may have been refused at once.
func (p *pace) ended(kind string, begun time.Time, err error) {
	took := p.clock.Since(begun)
	if err != nil || took <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kinds[kind] == nil {
		p.kinds[kind] = &unhindered{since: p.clock.Now()}
	}
	p.slower = append(p.slower, float64(took)/float64(p.kinds[kind].least(took, p.clock)))
	if len(p.slower) < paceWindow {
		return
	}
	slices.Sort(p.slower)
	step := max(1, p.limit/paceDivisor)
	if p.slower[paceWindow/2] > patience {
		step = -step
	}
	p.limit, p.slower = min(max(p.limit+step, p.min), p.max), p.slower[:0]
}

// least notes how long a call took, and returns the least.
func (u *unhindered) least(took time.Duration, clock clock.PassiveClock) time.Duration {
	if clock.Since(u.since) > pacePeriod {
		u.since, u.before, u.now = clock.Now(), u.now, 0
	}
	if u.now == 0 || took < u.now {
		u.now = took
	}
	if u.before > 0 {
		return min(u.now, u.before)
	}
	return u.now
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
			do(i)
		}
	}
	for range min(n, p.now()) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}
