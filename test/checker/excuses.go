package checker

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// excuses are what a process could not know when it planned, or could not do: a watch event is
// late, and a plan takes some calls to carry out.
type excuses struct {
	world *sim.World
	// Late is until when retries after an injected fault may delay everything, LostAt
	// when a fault or a restart last may have made the controller forget something.
	Late, LostAt time.Time
	// ahead and behind are how far a clock of the controller ever was, slowest the longest
	// lag of a process.
	ahead, behind, slowest time.Duration
	// skew is how far the clocks of new processes are ahead.
	skew time.Duration
	// horizon is the first moment of which a process with this knowledge does not know.
	horizon struct {
		knew sim.Knowledge
		at   time.Time
	}
	// Exact reports whether only what a process knew is an excuse, and not how long something takes.
	Exact bool
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

// recent reports whether the process that makes the present write may not have known what
// happened then: its watches delivered it only after the write was planned, if at all.
func (e *excuses) recent(at time.Time) bool {
	return e.isLateFor(at) || !at.Before(e.unknown())
}

// isLateFor reports whether the present write was sent before then, and came through late.
func (e *excuses) isLateFor(at time.Time) bool {
	_, asked := e.world.Store.Writing()
	return !asked.IsZero() && at.After(asked)
}

// unknown returns the first moment of which the plan behind the present write does not know.
func (e *excuses) unknown() time.Time {
	knew, _ := e.world.Store.Writing()
	switch {
	case !knew.Process().Exists(): // Nobody in particular writes, and everything may be known.
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

// writer returns the process that makes the present write, or none.
func (e *excuses) writer() sim.Process {
	knew, _ := e.world.Store.Writing()
	return knew.Process()
}

// alone reports whether no second process works on the same Jobs.
func (e *excuses) alone() bool {
	working := 0
	for _, p := range e.world.Processes() {
		if p.IsWorking() {
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

// Troubled notes that a call went wrong: what is due may wait for two retries.
func (e *excuses) Troubled() {
	e.Extend(&e.Late, e.world.Now().Add(2*time.Minute))
}

// Extend moves a time, unless it is later already.
func (*excuses) Extend(t *time.Time, to time.Time) {
	if to.After(*t) {
		*t = to
	}
}

// blind notes that the controller learns what happens until then only at that time, and perhaps
// not at all.
func (e *excuses) blind(until time.Time) {
	e.Extend(&e.LostAt, until)
	e.Extend(&e.Late, until)
}

// begins notes the start of a controller process.
func (e *excuses) begins(o sim.ProcessOptions) {
	now := e.world.Now()
	e.slowest = max(e.slowest, o.Lag)
	e.skewed(e.skew + o.Clock)
	e.Extend(&e.LostAt, now)
	if (o.JobsOlder > 0 || o.PodsOlder > 0) && !e.Exact {
		e.blind(now.Add(e.lag()))
	}
}
