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
	// exact, if set, returns the first moment of which a process may not know yet.
	exact func() time.Time
}

// lag returns how long the controller may act on outdated state: a stage makes up to 32
// creations in any case (controller.Config.PodConcurrency).
func (e *excuses) lag() time.Duration {
	calls := time.Duration(25)
	if e.world.QPS > 0 {
		calls = 40
	}
	return max(e.world.Lag, e.slowest) + calls*e.callTime()
}

// callTime returns how long a call takes, including the wait for the rate limit.
func (e *excuses) callTime() time.Duration {
	if e.world.QPS == 0 {
		return e.world.Latency
	}
	return e.world.Latency + time.Duration(float64(time.Second)/e.world.QPS)
}

// recent reports whether a process may not know yet what happened then.
func (e *excuses) recent(at time.Time) bool {
	if e.exact != nil {
		return !at.Before(e.exact())
	}
	return e.hidden(at) || e.world.Now().Sub(at) <= e.lag()
}

// hidden reports whether the reason is that the controller was blind, or that a call took long.
func (e *excuses) hidden(at time.Time) bool {
	if e.exact != nil {
		return e.recent(at)
	}
	return !e.world.Now().After(e.blindUntil.Add(e.lag())) && !at.Before(e.blindFrom.Add(-e.lag()))
}

// alone reports whether no second process works on the same Jobs.
func (e *excuses) alone() bool {
	working := 0
	for _, p := range e.world.processes {
		if p.isWorking() {
			working++
		}
	}
	return working < 2
}

// slack returns how wrong the controller may be about a time.
func (e *excuses) slack() time.Duration { return e.ahead + e.behind }

// skewed notes how far a clock of the controller is ahead.
func (e *excuses) skewed(ahead time.Duration) {
	e.ahead, e.behind = max(e.ahead, ahead), max(e.behind, -ahead)
}

// troubled notes that a call went wrong: what is due may wait for two retries.
func (e *excuses) troubled() {
	e.extend(&e.lostAt, e.world.Now())
	e.extend(&e.late, e.world.Now().Add(2*time.Minute))
}

func (*excuses) extend(t *time.Time, to time.Time) {
	if to.After(*t) {
		*t = to
	}
}

// blind notes that the controller learns what happened in a period only at its end, and
// perhaps not at all.
func (e *excuses) blind(from, until time.Time) {
	if over := e.world.Now().After(e.blindUntil.Add(e.lag())); over || from.Before(e.blindFrom) {
		e.blindFrom = from
	}
	for _, t := range []*time.Time{&e.blindUntil, &e.lostAt, &e.late} {
		e.extend(t, until)
	}
}

// begins notes the start of a controller process.
func (e *excuses) begins(o ProcessOptions) {
	now := e.world.Now()
	e.slowest = max(e.slowest, o.Lag)
	e.skewed(e.world.skew + o.Clock)
	e.extend(&e.lostAt, now)
	if older := max(o.JobsOlder, o.PodsOlder); older > 0 {
		e.blind(now.Add(-older), now.Add(e.lag()))
	}
}
