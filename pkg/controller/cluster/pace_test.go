package cluster

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// now returns how many calls may be in flight.
func (p *pace) now() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// apiServer delays its responses by the kind of the call and the number of calls in flight.
type apiServer func(kind string, inFlight int) time.Duration

// calls makes n calls, half of them creations, and returns the smallest and the largest number of calls in flight.
func (p *pace) calls(n int, server apiServer) (least, most int) {
	least, most = p.max, 0
	for i := range n {
		kind := []string{"create", "patch"}[i%2]
		p.ended(kind, p.clock.Now().Add(-server(kind, p.now())), nil)
		least, most = min(least, p.now()), max(most, p.now())
	}
	return least, most
}

// Requirements: IDL-09
func TestCallsDoNotWaitForOneAnother(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	between := func(least, most int) time.Duration {
		return time.Duration(least+random.IntN(most-least+1)) * time.Millisecond
	}
	for name, c := range map[string]struct {
		server apiServer
		limit  int
	}{
		"a call in two takes 5 ms on each of two cores, one in 16 does not have to wait": {func(_ string, inFlight int) time.Duration {
			return time.Duration(1+max(0, inFlight/2-1)*min(1, random.IntN(16))) * 5 * time.Millisecond
		}, minPace},
		"a webhook takes most of the time of a call, of the one more than of the other": {func(string, int) time.Duration { return between(50, 140) }, 160},
		"a webhook is only for creations": {func(kind string, _ int) time.Duration {
			if kind == "create" {
				return between(90, 110)
			}
			return between(3, 5)
		}, 160},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPace(32, clocktesting.NewFakePassiveClock(time.Now()))
			p.limit = p.max
			p.calls(2000, c.server)
			least, most := p.calls(10_000, c.server)
			if c.limit == p.max && least < c.limit || most > c.limit {
				t.Errorf("%d to %d calls at once", least, most)
			}
		})
	}
	assert.Equal(t, newPace(3, clock.RealClock{}).now(), 3, "calls at once")
}

// An API server that has become slower gets more calls again, once the slowness has lasted for a while.
// Requirements: IDL-09
func TestPaceFollowsTheAPIServer(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Now())
	p := newPace(32, now)
	p.calls(1000, func(string, int) time.Duration { return time.Millisecond })
	slower := func(string, int) time.Duration { return 20 * time.Millisecond }
	if p.calls(1000, slower); p.now() != minPace {
		t.Fatalf("%d calls at once", p.now())
	}
	for range 2 {
		now.SetTime(now.Now().Add(pacePeriod + time.Second))
		p.calls(2*paceWindow, slower)
	}
	if p.calls(1000, slower); p.now() != p.max {
		t.Errorf("%d calls at once", p.now())
	}
}

// A call that is refused at once does not affect the pace.
// Requirements: IDL-09
func TestPaceIgnoresFailedCalls(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Now())
	p := newPace(32, now)
	for range 10_000 {
		p.ended("create", now.Now().Add(-time.Millisecond), errors.New("refused"))
		p.ended("create", now.Now().Add(-50*time.Millisecond), nil)
	}
	assert.Equal(t, p.now(), p.max, "calls at once")
}

// A large Job has few calls in flight while a small Job is at work, and for a moment after that.
// Requirements: SCL-09
func TestLargeJobsGiveWayToSmallOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(32, clock.RealClock{})
		var inFlight atomic.Int32
		proceed, end := make(chan bool), make(chan bool)
		go p.parallel(Large, 200, func(int) {
			inFlight.Add(1)
			<-proceed
			inFlight.Add(-1)
		})
		expect := func(when string, answered, want int) {
			t.Helper()
			for range answered {
				proceed <- true
			}
			if synctest.Wait(); inFlight.Load() != int32(want) {
				t.Errorf("%s: %d calls of the large Job in flight, want %d", when, inFlight.Load(), want)
			}
		}
		expect("it is alone", 0, minPace)
		expect("it is alone", 50, minPace)
		go p.parallel(Small, 1, func(int) { <-end })
		synctest.Wait()
		expect("a small Job is at work", minPace-courtesy, courtesy)
		expect("a small Job is at work", 20, courtesy)
		close(end)
		time.Sleep(courtesyPeriod - time.Millisecond)
		expect("one was at work a moment ago", 1, courtesy)
		time.Sleep(time.Millisecond)
		expect("it is alone again", 1, minPace)
		hangs := make(chan bool)
		go p.parallel(Small, 1, func(int) { <-hangs })
		synctest.Wait()
		time.Sleep(mostCourtesy - time.Millisecond)
		expect("a small Job has a call that hangs", minPace, courtesy)
		time.Sleep(time.Millisecond)
		expect("that call has hung for long", 1, minPace-1)
		close(proceed)
		close(hangs)
	})
}

// A Job whose calls are answered makes its next ones after those that have waited for longer: otherwise they might wait
// for as long as it has calls to make.
// Requirements: IDL-09
func TestCallsBeginInOrderOfArrival(t *testing.T) {
	const perSync, others = 100, 3
	for first, atOnce := range map[Priority]int{Small: minSmallPace, Large: minPace} {
		synctest.Test(t, func(t *testing.T) {
			p := newPace(perSync, clock.RealClock{})
			proceed, began := make(chan bool), atomic.Int32{}
			go p.parallel(first, 2*perSync, func(int) { <-proceed })
			synctest.Wait()
			time.Sleep(2 * mostCourtesy) // Small Jobs come first no more.
			for range others {
				go p.parallel(Large, 1, func(int) {
					began.Add(1)
					<-proceed
				})
				synctest.Wait()
			}
			// So many calls of the first Job wait already.
			for range perSync - atOnce {
				proceed <- true
				synctest.Wait()
			}
			for i := range int32(others) {
				assert.Equalf(t, began.Load(), i, "priority %d: calls of the other Jobs have begun", first)
				proceed <- true
				synctest.Wait()
			}
			close(proceed)
		})
	}
}

// The calls that complete a Job begin before creations that have waited for longer, and small Jobs alone do not keep a
// large one from making any.
// Requirements: SCL-17, SCL-09
func TestCallsOfJobsThatEndComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(1, clock.RealClock{})
		var order []Priority
		proceed := make(chan bool)
		calls := []Priority{Small, Small, Small, Small, Small, Large, Small, Ending, Ending}
		for _, job := range calls {
			go p.parallel(job, 1, func(int) {
				order = append(order, job)
				<-proceed
			})
			synctest.Wait()
		}
		for range calls {
			proceed <- true
			synctest.Wait()
		}
		assert.SlicesEqual(t, order, []Priority{Small, Small, Small, Small, Small, Ending, Ending, Large, Small})
	})
}

func TestCallsRunAtOnce(t *testing.T) {
	p := newPace(4, clock.RealClock{})
	var mu sync.Mutex
	running, most, done := 0, 0, 0
	four := make(chan struct{})
	p.parallel(Small, 9, func(int) {
		mu.Lock()
		running++
		if most = max(most, running); most == 4 && done == 0 {
			done = 1
			close(four)
		}
		mu.Unlock()
		<-four
		mu.Lock()
		running--
		mu.Unlock()
	})
	assert.Equal(t, most, 4, "calls at once")
	p.parallel(Small, 0, func(int) { t.Error("a call") })
}
