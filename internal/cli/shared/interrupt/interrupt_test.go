package interrupt_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// process is a process that a Guard ends, in the time of a synctest bubble.
type process struct {
	guard *interrupt.Guard
	ctx   context.Context // of the verb
	start time.Time
	// ended is when the process exited, after start.
	mu    sync.Mutex
	ended []string
}

func start(t *testing.T) *process {
	p := &process{start: time.Now()}
	p.guard = &interrupt.Guard{
		After: func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		Exit: func(code int) {
			assert.Equal(t, code, 130)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.ended = append(p.ended, time.Since(p.start).String())
		},
	}
	p.ctx = interrupt.WithGuard(t.Context(), p.guard)
	return p
}

// hold holds the process for a time, from a time on.
func (p *process) hold(from, d time.Duration) {
	time.AfterFunc(from, func() {
		ctx, cancel := context.WithCancel(p.ctx)
		interrupt.Hold(ctx)
		time.AfterFunc(d, cancel)
	})
}

// wants checks when the process exits; a real one exits once.
func (p *process) wants(t *testing.T, want string) {
	t.Helper()
	time.Sleep(time.Hour)
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.Equal(t, append(p.ended, "")[0], want, p.ended, "exits")
}

// A verb that ignores its context is ended in less than a second; one that writes to the cluster has until the end of its
// request, and another grace period to report the result.
// Requirements: CLI-73
func TestAnInterruptedProcessEnds(t *testing.T) {
	for name, c := range map[string]struct {
		hold func(*process)
		want string
	}{
		"without a request":             {func(*process) {}, "700ms"},
		"a request that was sent":       {func(p *process) { p.hold(0, 5*time.Second) }, "5.7s"},
		"a request after the signal":    {func(p *process) { p.hold(100*time.Millisecond, 5*time.Second) }, "5.8s"},
		"a short request":               {func(p *process) { p.hold(100*time.Millisecond, 200*time.Millisecond) }, "1s"},
		"requests one after the other":  {func(p *process) { p.hold(0, time.Second); p.hold(1500*time.Millisecond, time.Second) }, "3.2s"},
		"several requests at once":      {func(p *process) { p.hold(0, time.Second); p.hold(0, 2*time.Second) }, "2.7s"},
		"a request long after that end": {func(p *process) { p.hold(5*time.Second, time.Second) }, "700ms"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := start(t)
				c.hold(p)
				synctest.Wait()
				p.guard.Interrupt(130)
				p.wants(t, c.want)
			})
		})
	}
}

// Without a signal, the end of a request ends nothing.
// Requirements: CLI-73
func TestAProcessWithoutASignalGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t)
		p.hold(0, time.Second)
		p.wants(t, "")
		assert.Equal(t, p.guard.Code(), 0, "interrupted")
	})
}

// Temporary files are removed and the terminal is restored before the process exits, unless that blocks.
// Requirements: CLI-73, BUN-03
func TestAnInterruptedProcessCleansUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t)
		var cleaned []string
		interrupt.OnExit(p.ctx, func() { cleaned = append(cleaned, "a") })
		interrupt.OnExit(p.ctx, func() { cleaned = append(cleaned, "done before") })()
		p.guard.Interrupt(130)
		time.Sleep(750 * time.Millisecond)
		synctest.Wait()
		if len(p.ended) != 1 || !slices.Equal(cleaned, []string{"a"}) {
			t.Errorf("exits after %q with %q", p.ended, cleaned)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p := start(t)
		blocked := make(chan struct{})
		defer close(blocked)
		interrupt.OnExit(p.ctx, func() { <-blocked })
		p.guard.Interrupt(130)
		p.wants(t, "800ms")
	})
}
