package cluster

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// loaded makes so many calls to an API server that takes as long as answer says for one of many in flight.
func loaded(p *pace, calls int, answer func(inFlight int) time.Duration) (least, most int) {
	least, most = p.max, 0
	for range calls {
		p.ended(answer(p.now()))
		least, most = min(least, p.now()), max(most, p.now())
	}
	return least, most
}

func TestCallsDoNotWaitForOneAnother_SCL_09(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	// Two cores, each of which has a call for 5 ms; one in 16 does not have to wait.
	small := func(inFlight int) time.Duration {
		return time.Duration(1+max(0, inFlight/2-1)*min(1, random.IntN(16))) * 5 * time.Millisecond
	}
	// A webhook takes most of the time of a call, and more of the one than of the other.
	webhook := func(int) time.Duration { return time.Duration(50+random.IntN(90)) * time.Millisecond }
	p := newPace(32, clocktesting.NewFakePassiveClock(time.Now()))
	loaded(p, 1000, webhook)
	if got := p.now(); got != 32 {
		t.Errorf("%d calls at once where that is of use", got)
	}
	p = newPace(32, clocktesting.NewFakePassiveClock(time.Now()))
	p.limit = 32
	loaded(p, 1000, small)
	if least, most := loaded(p, 10_000, small); most > 2*minPace {
		t.Errorf("%d to %d calls at once in an API server that does two", least, most)
	}
	if p := newPace(3, clock.RealClock{}); p.now() != 3 {
		t.Errorf("%d of 3", p.now())
	}
}

// An API server that has become slower gets more calls again, once that is no longer news.
func TestPaceFollowsTheAPIServer(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Now())
	p := newPace(32, now)
	loaded(p, 1000, func(int) time.Duration { return time.Millisecond })
	slower := func(int) time.Duration { return 20 * time.Millisecond }
	loaded(p, 1000, slower)
	if p.now() != minPace {
		t.Fatalf("%d calls at once", p.now())
	}
	for range 2 {
		now.SetTime(now.Now().Add(pacePeriod + time.Second))
		loaded(p, 2*paceWindow, slower)
	}
	if loaded(p, 1000, slower); p.now() != 32 {
		t.Errorf("%d calls at once", p.now())
	}
}

// What makes no call tells nothing.
func TestPaceIgnoresWhatMakesNoCall(t *testing.T) {
	p := newPace(32, clock.RealClock{})
	loaded(p, 1000, func(int) time.Duration { return 0 })
	if p.now() != minPace || p.unhindered != 0 {
		t.Errorf("%d calls at once, %s", p.now(), p.unhindered)
	}
}

func TestCallsRunAtOnce(t *testing.T) {
	p := newPace(4, clock.RealClock{})
	var done atomic.Int32
	together := make(chan struct{})
	p.parallel(9, func(i int) {
		if done.Add(1) == 4 {
			close(together)
		}
		<-together
	})
	if done.Load() != 9 {
		t.Errorf("%d calls", done.Load())
	}
	p.parallel(0, func(int) { t.Error("a call") })
}
