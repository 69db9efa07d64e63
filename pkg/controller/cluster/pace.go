package cluster

import (
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// pace is how many calls about pods this process makes at once. With many, the API server and etcd take less CPU for each; but
// if calls only wait for one another there, more of them gain nothing. So there are more calls as long as most are answered
// within patience times what a call of their kind takes that need not wait, and fewer otherwise (IDL-09). While a small Job is at
// work, large ones leave the API server to it: beside 32 of their calls, it took 180 ms, beside 8, 80 ms.
type pace struct {
	clock clock.PassiveClock
	// perSync is the most that one sync makes at once; min and max bound the limit for all.
	perSync, min, max int

	mu    sync.Mutex
	limit int
	// inFlight is how many calls are in flight, large is how many of them are those of large Jobs, and freed is signaled when one
	// has ended.
	inFlight, large int
	freed           *sync.Cond
	// small is how many small Jobs are at work; smallBegun and smallEnded are when one began and ended last.
	small                  int
	smallBegun, smallEnded time.Time
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
	// minPace is enough for 500 calls per second that take 48 ms.
	minPace = 24
	// maxPace is how many syncs may make as many calls as one may.
	maxPace     = 5
	paceWindow  = 64
	pacePeriod  = 10 * time.Minute
	patience    = 5
	paceDivisor = 4 // A decision changes the limit by a quarter.

	// courtesy is how many calls of large Jobs are in flight while small ones are at work, and until courtesyPeriod later: the
	// small ones have more to do when their pods start or end. A small Job whose calls hang counts for mostCourtesy.
	courtesy       = 4
	courtesyPeriod = 100 * time.Millisecond
	mostCourtesy   = time.Second
)

func newPace(perSync int, clock clock.PassiveClock) *pace {
	least := min(minPace, perSync)
	p := &pace{clock: clock, perSync: perSync, min: least, max: maxPace * perSync, limit: least, kinds: map[string]*unhindered{}}
	p.freed = sync.NewCond(&p.mu)
	return p
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
func (p *pace) parallel(job Size, n int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	if job == Small {
		p.beginSmall()
		defer p.endSmall()
	}
	work := func() {
		for i := range next {
			p.beginCall(job)
			do(i)
			p.endCall(job)
		}
	}
	for range min(n, p.perSync) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

func (p *pace) beginSmall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.small++
	p.smallBegun = p.clock.Now()
}

func (p *pace) endSmall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.small--
	p.smallEnded = p.clock.Now()
}

// beginCall waits until a call of a Job may be made. Another call is in flight meanwhile, whose end wakes it.
func (p *pace) beginCall(job Size) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.mayCall(job) {
		p.freed.Wait()
	}
	p.inFlight++
	if job == Large {
		p.large++
	}
}

func (p *pace) mayCall(job Size) bool {
	smallFirst := p.small > 0 && p.clock.Since(p.smallBegun) < mostCourtesy || p.clock.Since(p.smallEnded) < courtesyPeriod
	if job == Large && smallFirst && p.large >= courtesy {
		return false
	}
	return p.inFlight < p.limit
}

func (p *pace) endCall(job Size) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight--
	if job == Large {
		p.large--
	}
	p.freed.Broadcast()
}
