package clitest

import (
	"sync"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// Clock is a clock that a test advances, with the timers that wait for it. It starts at Now.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	waiting map[chan time.Time]time.Time
	timers  map[*func()]time.Time
}

// TimerEnv returns NewEnv without timers; started is called with what a timer of this length would call, when it starts.
func TimerEnv(length time.Duration, started func(fire func())) cmdutil.Env {
	env := NewEnv()
	env.Timer = func(d time.Duration, fire func()) func() {
		if d == length {
			started(fire)
		}
		return func() {}
	}
	return env
}

// NewClock returns a stopped Clock.
func NewClock() *Clock {
	return &Clock{now: Now(), waiting: map[chan time.Time]time.Time{}, timers: map[*func()]time.Time{}}
}

// Env returns NewEnv with this clock.
func (c *Clock) Env() cmdutil.Env {
	env := NewEnv()
	env.Now, env.Ticker, env.Timer = c.Now, c.ticker, c.timer
	return env
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// ticker returns a ticker that beats once; to wait longer, the caller asks for another ticker.
func (c *Clock) ticker(d time.Duration) (beats <-chan time.Time, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	beat := make(chan time.Time, 1)
	c.waiting[beat] = c.now.Add(d)
	return beat, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, beat)
	}
}

// timer calls fire once d has passed.
func (c *Clock) timer(d time.Duration, fire func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timers[&fire] = c.now.Add(d)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.timers, &fire)
	}
}

// Advance moves the clock forward and fires the timers that are due.
func (c *Clock) Advance(d time.Duration) {
	for _, fire := range c.advance(d) {
		(*fire)()
	}
}

// advance returns the functions of timers that are due.
func (c *Clock) advance(d time.Duration) (due []*func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for fire, at := range c.timers {
		if !at.After(c.now) {
			due = append(due, fire)
			delete(c.timers, fire)
		}
	}
	for beat, at := range c.waiting {
		if !at.After(c.now) {
			beat <- c.now
			delete(c.waiting, beat)
		}
	}
	return due
}

// Fire fires all tickers without advancing the clock, so output that depends on the time stays the same.
func (c *Clock) Fire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for beat := range c.waiting {
		beat <- c.now
		delete(c.waiting, beat)
	}
}
