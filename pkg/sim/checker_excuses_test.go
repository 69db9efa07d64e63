package sim

import (
	"time"

	"github.com/go-logr/logr"
)

// excuses are what a process could not know when it planned, or could not do: a watch event is
// late, and a plan takes some calls to carry out.
type excuses struct {
	world *World
	// late is until when retries after an injected fault may delay everything, lostAt
	// when a fault or a restart last may have made the controller forget something.
	late, lostAt time.Time
	// ahead and behind are how far a clock of the controller ever was, slowest the longest
	// lag of a process.
	ahead, behind, slowest time.Duration
	// horizon is the first moment of which a process with this knowledge does not know.
	horizon struct {
		knowledge
		at time.Time
	}
	// exact reports whether only what a process knew is an excuse, and not how long something takes.
	exact bool
}

// planSink notices when a sync plans a stage: it would log the plan then. And work, if set, gets what the
// stage is about to do.
type planSink struct {
	logr.LogSink
	planned func()
	work    func(any)
}

// These are the levels at which plans are logged, and what stages do.
const planLevel, workLevel = 5, 6

func (planSink) Init(logr.RuntimeInfo) {}

func (s planSink) Enabled(level int) bool {
	if level == planLevel {
		s.planned()
	}
	return level == workLevel && s.work != nil
}

func (s planSink) Info(_ int, _ string, keysAndValues ...any) {
	s.work(keysAndValues[len(keysAndValues)-1])
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
	asked := e.world.Store.asked
	return !asked.IsZero() && at.After(asked)
}

// unknown returns the first moment of which the plan behind the present write does not know.
func (e *excuses) unknown() time.Time {
	knew := e.world.Store.knew
	switch {
	case knew.process == nil: // Nobody in particular writes, and everything may be known.
		return e.world.Now().Add(1)
	case e.horizon.knowledge == knew:
		return e.horizon.at
	}
	at := e.world.Now().Add(1)
	for _, s := range []*stream{knew.process.jobs, knew.process.pods} {
		seen := knew.pods
		if s.resource == jobsOnly {
			seen = knew.jobs
		}
		if missed, first := s.missed(seen); missed && first.Before(at) {
			at = first
		}
	}
	if !at.After(e.world.Now()) {
		e.horizon.knowledge, e.horizon.at = knew, at
	}
	return at
}

// missed returns when the first commit was made that a watch has not delivered, if it has
// delivered all up to a version. Its process knows of its own commits.
func (s *stream) missed(seen int64) (missed bool, at time.Time) {
	j := &s.process.world.journal
	for i := len(j.commits) - len(s.process.world.since(seen)); i < len(j.commits); i++ {
		c := j.commits[i]
		if c.isWatched() && c.resource() == s.resource && !s.process.knowsOfOwn(c) {
			return true, j.at[i]
		}
	}
	return false, at
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
	e.extend(&e.late, e.world.Now().Add(2*time.Minute))
}

func (*excuses) extend(t *time.Time, to time.Time) {
	if to.After(*t) {
		*t = to
	}
}

// blind notes that the controller learns what happens until then only at that time, and perhaps
// not at all.
func (e *excuses) blind(until time.Time) {
	e.extend(&e.lostAt, until)
	e.extend(&e.late, until)
}

// begins notes the start of a controller process.
func (e *excuses) begins(o ProcessOptions) {
	now := e.world.Now()
	e.slowest = max(e.slowest, o.Lag)
	e.skewed(e.world.skew + o.Clock)
	e.extend(&e.lostAt, now)
	if (o.JobsOlder > 0 || o.PodsOlder > 0) && !e.exact {
		e.blind(now.Add(e.lag()))
	}
}
