package checker

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// excuses holds what a process could not know when it planned a write, or could not do in time: a watch event is late,
// and a plan takes several calls to carry out.
type excuses struct {
	world *sim.World
	// Late is the time until which retries after an injected fault may delay everything. LostAt is the last time that a
	// fault or a restart may have lost state of the controller.
	Late, LostAt time.Time
	// ahead and behind are the largest offsets that a controller clock ever had, slowest the longest lag of a process.
	ahead, behind, slowest time.Duration
	// skew is how far ahead the clocks of new processes are.
	skew time.Duration
	// horizon caches the time of the first event that a process with this Knowledge has not seen.
	horizon struct {
		knew sim.Knowledge
		at   time.Time
	}
	// Exact excuses only missing knowledge, not delays.
	Exact bool
}

// lag returns how long the controller may act on outdated state. A stage makes up to 32 creations in any case
// (controller.Config.PodConcurrency).
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

// recent reports whether the writing process may not know what happened at the given time: its watches delivered that
// only after the write was planned, if at all.
func (e *excuses) recent(at time.Time) bool {
	return e.isLateFor(at) || !at.Before(e.unknown())
}

// isLateFor reports whether the present write was sent before the given time, and arrived late.
func (e *excuses) isLateFor(at time.Time) bool {
	_, asked := e.world.Store.Writing()
	return !asked.IsZero() && at.After(asked)
}

// unknown returns the time of the first event that the plan behind the present write does not know.
func (e *excuses) unknown() time.Time {
	knew, _ := e.world.Store.Writing()
	switch {
	case !knew.Process().Exists(): // The writer is no controller process, and may know everything.
		return e.world.Now().Add(1)
	case e.horizon.knew == knew:
		return e.horizon.at
	}
	at := e.world.Now().Add(1)
	if first, known := knew.MissesSince(); !known && first.Before(at) {
		at = first
	}
	if !at.After(e.world.Now()) {
		e.horizon.knew, e.horizon.at = knew, at
	}
	return at
}

// writer returns the process that makes the present write; it may not exist.
func (e *excuses) writer() sim.Process {
	knew, _ := e.world.Store.Writing()
	return knew.Process()
}

// alone reports whether at most one process works on the Jobs.
func (e *excuses) alone() bool {
	working := 0
	for _, p := range e.world.Processes() {
		if p.IsWorking() {
			working++
		}
	}
	return working < 2
}

// slack returns the largest error of the controller's clocks.
func (e *excuses) slack() time.Duration { return e.ahead + e.behind }

// skewed records the offset of a controller clock.
func (e *excuses) skewed(ahead time.Duration) {
	e.ahead, e.behind = max(e.ahead, ahead), max(e.behind, -ahead)
}

// Troubled records a failed call: anything that is due may be delayed by two retries.
func (e *excuses) Troubled() {
	e.Extend(&e.Late, e.world.Now().Add(2*time.Minute))
}

// Extend sets *t to a later time, and ignores an earlier one.
func (*excuses) Extend(t *time.Time, to time.Time) {
	if to.After(*t) {
		*t = to
	}
}

// blind records that the controller sees events before until only at that time, and perhaps never.
func (e *excuses) blind(until time.Time) {
	e.Extend(&e.LostAt, until)
	e.Extend(&e.Late, until)
}

// begins records the start of a controller process.
func (e *excuses) begins(o sim.ProcessOptions) {
	now := e.world.Now()
	e.slowest = max(e.slowest, o.Lag)
	e.skewed(e.skew + o.Clock)
	e.Extend(&e.LostAt, now)
	if (o.JobsOlder > 0 || o.PodsOlder > 0) && !e.Exact {
		e.blind(now.Add(e.lag()))
	}
}
