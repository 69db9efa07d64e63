package sim

import (
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// skewedClock is the clock of a controller process: ahead of the one that the API server
// and the nodes go by, or behind it, and set anew at times. What it measures between two
// readings of its own is right all the same, as with the monotonic clock of Go.
type skewedClock struct {
	*clocktesting.FakeClock
	ahead []offset
}

// offset is how far a clock is ahead from a moment on.
type offset struct {
	at time.Time
	by time.Duration
}

// Now is what the clock shows.
func (c *skewedClock) Now() time.Time {
	return c.FakeClock.Now().Add(c.ahead[len(c.ahead)-1].by)
}

// Since is how long ago the clock showed a time.
func (c *skewedClock) Since(shown time.Time) time.Duration {
	end := c.FakeClock.Now()
	for i := len(c.ahead) - 1; ; i-- {
		o := c.ahead[i]
		then := shown.Add(-o.by)
		if i == 0 || !then.Before(o.at) && !then.After(end) {
			return c.FakeClock.Now().Sub(then)
		}
		end = o.at
	}
}

// SetClock sets the clocks of all controller processes, and of those to come, so far ahead.
func (w *World) SetClock(ahead time.Duration) {
	w.notify(clocksSet{ahead})
	w.skew = ahead
	for _, p := range w.processes {
		p.clock.ahead = append(p.clock.ahead, offset{w.Now(), ahead + p.Clock})
	}
}
