package sim

import (
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// skewedClock is the clock of a controller process: ahead of the clock of the API server and the nodes, or behind it,
// and sometimes set. Durations between two of its own readings are correct nevertheless, as with Go's monotonic clock.
type skewedClock struct {
	*clocktesting.FakeClock
	ahead []offset
	// grain is the precision of the clock; 0 for exact times.
	grain time.Duration
}

// offset is the time by which a clock is ahead, from a given time on.
type offset struct {
	at time.Time
	by time.Duration
}

// Now returns the time that the clock shows.
func (c *skewedClock) Now() time.Time {
	return c.FakeClock.Now().Truncate(c.grain).Add(c.ahead[len(c.ahead)-1].by)
}

// Since returns the time since the clock showed the given time.
func (c *skewedClock) Since(shown time.Time) time.Duration {
	now := c.FakeClock.Now().Truncate(c.grain)
	end := now
	for i := len(c.ahead) - 1; ; i-- {
		o := c.ahead[i]
		then := shown.Add(-o.by)
		if i == 0 || !then.Before(o.at) && !then.After(end) {
			return now.Sub(then)
		}
		end = o.at
	}
}

// SetClock sets the clocks of all current and future controller processes ahead.
func (w *World) SetClock(ahead time.Duration) {
	w.notify(ClocksSet{ahead})
	w.skew = ahead
	for _, p := range w.processes {
		p.clock.ahead = append(p.clock.ahead, offset{w.Now(), ahead + p.Clock})
	}
}
