// Package interrupt ends the process after SIGINT or SIGTERM.
//
// The first signal cancels the context of the verb, which returns and says what it leaves behind. Some work ignores a context:
// parsing, simulating, writing into a pipe that is not read, a credential plugin. The process therefore exits by itself after
// a grace period. It waits longer only for work that Hold announces: requests that change the cluster, or that find out what
// changed there, because the user has to know. A second signal ends the process at once.
//
// With a context without a Guard, as in tests, Hold and OnExit do nothing.
package interrupt

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// grace is how long the verb has to return after the signal, and after the last Hold; cleanupTime is the limit for the
	// functions of OnExit, as a terminal may block. Together they are less than a second.
	grace       = 700 * time.Millisecond
	cleanupTime = 100 * time.Millisecond
)

// Guard ends a process that was interrupted.
type Guard struct {
	// Exit ends the process; After calls a function after a duration.
	Exit  func(code int)
	After func(time.Duration, func())

	mu sync.Mutex
	// code is the exit code; 0 before the signal.
	code int
	// holds is the number of Holds whose context is not done.
	holds int
	// graces is the number of grace periods that have begun; only the last one ends the process.
	graces int
	// cleanups are the functions of OnExit, by an increasing number.
	cleanups map[int]func()
	next     int
}

type guardKey struct{}

// WithGuard returns a context whose verb the Guard ends.
func WithGuard(ctx context.Context, g *Guard) context.Context {
	return context.WithValue(ctx, guardKey{}, g)
}

// Hold keeps an interrupted process alive until ctx is done. It is for work that must be completed despite the interruption:
// ctx is not canceled by the signal, has a time limit, and is canceled when the work is done.
func Hold(ctx context.Context) {
	g, _ := ctx.Value(guardKey{}).(*Guard)
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds++
	context.AfterFunc(ctx, g.release)
}

// Linger returns a context that outlives ctx by d, and is held until it ends. after calls a function after a duration.
func Linger(ctx context.Context, d time.Duration, after func(time.Duration, func()) (stop func())) (context.Context, context.CancelFunc) {
	lingering, cancel := context.WithCancel(context.WithoutCancel(ctx))
	Hold(lingering)
	stop := context.AfterFunc(ctx, func() { after(d, cancel) })
	return lingering, func() {
		stop()
		cancel()
	}
}

// OnExit has f called if the process exits before the verb returns, which skips its deferred calls.
func OnExit(ctx context.Context, f func()) (stop func()) {
	g, _ := ctx.Value(guardKey{}).(*Guard)
	if g == nil {
		return func() {}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cleanups == nil {
		g.cleanups = map[int]func(){}
	}
	id := g.next
	g.next++
	g.cleanups[id] = f
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.cleanups, id)
	}
}

// Interrupt starts the grace period. code is the exit code, which is not 0.
func (g *Guard) Interrupt(code int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.code = code
	g.startGrace()
}

// Code returns the exit code of an interrupted process; 0 before a signal.
func (g *Guard) Code() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.code
}

// release ends a Hold. A new grace period begins, in which the verb can say what became of its requests.
func (g *Guard) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds--
	if g.code != 0 {
		g.startGrace()
	}
}

func (g *Guard) startGrace() {
	if g.holds == 0 {
		g.graces++
		last := g.graces
		g.After(grace, func() { g.expire(last) })
	}
}

// expire ends the process, unless it is held again, or was since: the end of that Hold starts another grace period.
func (g *Guard) expire(period int) {
	g.mu.Lock()
	held, cleanups := g.holds > 0 || g.graces > period, slices.Collect(maps.Values(g.cleanups))
	g.mu.Unlock()
	if held {
		return
	}
	g.After(cleanupTime, func() { g.Exit(g.Code()) })
	for _, cleanup := range cleanups {
		cleanup()
	}
	g.Exit(g.Code())
}
