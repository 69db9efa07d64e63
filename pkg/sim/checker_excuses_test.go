package sim

import (
	"time"
)

// excuses are what the controller could not know yet, or could not do: a watch event is
// late by up to its lag, and a plan takes some calls to carry out.
type excuses struct {
	world *World
	// late is until when retries after an injected fault may delay everything, lostAt
	// when a fault or a restart last may have made the controller forget something.
	late, lostAt time.Time
	// blindFrom and blindUntil are the time of which the controller knew nothing, or only
	// in the end: its watches were closed, or it began with old lists.
	blindFrom, blindUntil time.Time
	// ahead and behind are how far a clock of the controller ever was, lag the longest
	// lag of a process.
	ahead, behind, slowest time.Duration
}

// lag is how long the controller may act on what is no longer so: a stage makes at least 32
// creations if it is to (controller.Config.PodConcurrency).
func (e *excuses) lag() time.Duration {
	calls := time.Duration(25)
	if e.world.QPS > 0 {
		calls = 40
	}
	return max(e.world.Lag, e.slowest) + calls*e.callTime()
}

// callTime is how long a call takes, the wait for the rate limit included.
func (e *excuses) callTime() time.Duration {
	if e.world.QPS == 0 {
		return e.world.Latency
	}
	return e.world.Latency + time.Duration(float64(time.Second)/e.world.QPS)
}

// recent reports whether a process may not know yet of what happened then.
func (e *excuses) recent(at time.Time) bool {
	return e.hidden(at) || e.world.Now().Sub(at) <= e.lag()
}

// hidden reports whether this is so because the controller was blind, or a call took long.
func (e *excuses) hidden(at time.Time) bool {
	return !e.world.Now().After(e.blindUntil.Add(e.lag())) && !at.Before(e.blindFrom.Add(-e.lag()))
}

// alone reports whether no second process works on the same Jobs.
func (e *excuses) alone() bool { return len(e.world.processes) < 2 }

// slack is how wrong the controller may be about a time.
func (e *excuses) slack() time.Duration { return e.ahead + e.behind }

// skewed takes that a clock of the controller is so far ahead.
func (e *excuses) skewed(ahead time.Duration) {
	e.ahead, e.behind = max(e.ahead, ahead), max(e.behind, -ahead)
}

// troubled says that a call went wrong: what is due may wait for two retries.
func (e *excuses) troubled() {
	e.extend(&e.lostAt, e.world.Now())
	e.extend(&e.late, e.world.Now().Add(2*time.Minute))
}

func (*excuses) extend(t *time.Time, to time.Time) {
	if to.After(*t) {
		*t = to
	}
}

// blind says that what happened in a time comes to the controller at its end only, and
// perhaps not at all.
func (e *excuses) blind(from, until time.Time) {
	if over := e.world.Now().After(e.blindUntil.Add(e.lag())); over || from.Before(e.blindFrom) {
		e.blindFrom = from
	}
	for _, t := range []*time.Time{&e.blindUntil, &e.lostAt, &e.late} {
		e.extend(t, until)
	}
}

// begins takes the beginning of a controller process.
func (e *excuses) begins(o ProcessOptions) {
	now := e.world.Now()
	e.slowest = max(e.slowest, o.Lag)
	e.skewed(o.Clock)
	e.extend(&e.lostAt, now)
	if older := max(o.JobsOlder, o.PodsOlder); older > 0 {
		e.blind(now.Add(-older), now.Add(e.lag()))
	}
}
