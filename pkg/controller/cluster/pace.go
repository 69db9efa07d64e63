package cluster

import (
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// pace limits how many calls about pods this process makes at once. With more concurrent calls, the API server and etcd
// need less CPU per call, until the calls only wait for one another there. So the limit rises as long as most calls end
// within patience times the duration of an unhindered call of their kind, and falls otherwise (IDL-09). While a small
// Job is at work, large Jobs yield: a small Job took 180 ms beside 32 of their calls, and 80 ms beside 8.
type pace struct {
	clock clock.PassiveClock
	// perSync is the most calls that one sync makes at once; min and max bound the limit for all syncs. Calls of small Jobs,
	// and a few of large ones, do not wait as long as fewer than minSmall are in flight.
	perSync, min, max, minSmall int

	mu    sync.Mutex
	limit int
	// inFlight is the number of calls in flight, and large is the number of those for large Jobs.
	inFlight, large int
	// waiting holds, for each priority, the calls that wait, in order of arrival: when new calls could begin before them, a
	// few of 2,000 Jobs that were created at once waited for half a minute. arrivals counts all calls.
	waiting  [Large + 1][]waitingCall
	arrivals int
	// small is the number of small Jobs at work; smallBegun and smallEnded are the times at which the last one began and
	// ended.
	small                  int
	smallBegun, smallEnded time.Time
	// slower holds, for the calls since the last decision, the ratio of their duration to that of an unhindered call.
	slower []float64
	kinds  map[string]*unhindered
}

// waitingCall is a call that begins when turn is closed.
type waitingCall struct {
	arrival int
	turn    chan struct{}
}

// unhindered is the duration of a call of one kind that does not wait: the minimum of this period and the previous one,
// so that it follows an API server or a webhook that has become slower.
type unhindered struct {
	since       time.Time
	now, before time.Duration
}

const (
	// minPace is enough for 500 calls per second that take 48 ms.
	minPace = 24
	// minSmallPace is the default number of syncs at once: a small Job often has a single call to make, and 50 of them need
	// less of the API server's CPU together than one after the other.
	minSmallPace = 50
	// maxPace is the number of syncs that may each make perSync calls at the same time.
	maxPace     = 5
	paceWindow  = 64
	pacePeriod  = 10 * time.Minute
	patience    = 5
	paceDivisor = 4 // A decision changes the limit by a quarter.

	// courtesy is how many calls for large Jobs are in flight while small Jobs are at work, and until courtesyPeriod
	// later: small Jobs have more to do when their pods start or end. A small Job whose calls hang has this priority for
	// at most mostCourtesy.
	courtesy       = 4
	courtesyPeriod = 100 * time.Millisecond
	mostCourtesy   = time.Second
)

func newPace(perSync int, clock clock.PassiveClock) *pace {
	least := min(minPace, perSync)
	most := maxPace * perSync
	return &pace{clock: clock, perSync: perSync, min: least, max: most, minSmall: min(minSmallPace, most), limit: least, kinds: map[string]*unhindered{}}
}

// ended records that a call of a kind, which began at a time, has ended. It ignores failed calls, which may have been
// refused at once.
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

// least records the duration of a call, and returns the minimum.
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
func (p *pace) parallel(job Priority, n int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	if job != Large {
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

// beginCall waits until a call for a Job may be made.
func (p *pace) beginCall(job Priority) {
	p.mu.Lock()
	p.arrivals++
	call := waitingCall{p.arrivals, make(chan struct{})}
	p.waiting[job] = append(p.waiting[job], call)
	p.admit()
	p.mu.Unlock()
	<-call.turn
}

func (p *pace) endCall(job Priority) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight--
	if job == Large {
		p.large--
	}
	p.admit()
}

// admit begins as many of the waiting calls as the limits allow. If calls still wait, others are in flight, whose ends
// admit them. The caller holds the lock.
func (p *pace) admit() {
	for {
		job, ready := p.next()
		if !ready {
			return
		}
		close(p.waiting[job][0].turn)
		p.waiting[job] = p.waiting[job][1:]
		p.inFlight++
		if job == Large {
			p.large++
		}
	}
}

// next returns the priority of the next call, and whether one is ready to begin. Calls of Jobs that end are first, and do not
// hold up the others for long: they are never more than the creations before them. The others begin in order of arrival.
func (p *pace) next() (job Priority, ready bool) {
	smallFirst := p.small > 0 && p.clock.Since(p.smallBegun) < mostCourtesy || p.clock.Since(p.smallEnded) < courtesyPeriod
	room, roomForSome := p.inFlight < p.limit, p.inFlight < max(p.limit, p.minSmall)
	small := roomForSome && len(p.waiting[Small]) > 0
	large := (room && !smallFirst || roomForSome && p.large < courtesy) && len(p.waiting[Large]) > 0
	switch {
	case roomForSome && len(p.waiting[Ending]) > 0:
		return Ending, true
	case large && (!small || p.waiting[Large][0].arrival < p.waiting[Small][0].arrival):
		return Large, true
	}
	return Small, small
}
