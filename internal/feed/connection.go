package feed

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Timing is the time of a feed. Tests have their own.
type Timing struct {
	Now   func() time.Time
	Ticks func(time.Duration) (beats <-chan time.Time, stop func())
	Retry Retry
}

// Retry is how a lost connection is noticed and tried again.
type Retry struct {
	First, Max   time.Duration // the first pause, of which each further one is twice as long, and the longest
	RefusalGrace time.Duration // how long a 403 is retried: a starting API server has not loaded its RBAC rules yet
	Patience     time.Duration // how long an answer may take: a busy API server needs a second now and then
}

// Pause waits for d, or for news. The error is the context's.
func (t Timing) Pause(ctx context.Context, d time.Duration, news <-chan struct{}) error {
	if d <= 0 {
		return ctx.Err()
	}
	beats, stop := t.Ticks(d)
	defer stop()
	select {
	case <-beats:
	case <-news:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Connection is the state of one connection: it notes that it is lost and that it is back, and makes pauses.
type Connection struct {
	timing  Timing
	changed func(failure error)
	heard   func() // the server has answered; may be nil

	lost         bool
	pause        time.Duration // the next one
	refusedSince time.Time     // zero while the server does not refuse
}

// NewConnection returns one that calls changed with why it was lost, and with nil when it is back.
func NewConnection(timing Timing, changed func(failure error)) *Connection {
	return &Connection{timing: timing, changed: changed}
}

// Connected notes that the server answers, or that nothing is asked of it now.
func (c *Connection) Connected() {
	if c.lost {
		c.changed(nil)
	}
	c.lost = false
	c.refusedSince = time.Time{}
}

// Heard notes that the connection delivers, so the next pause is a short one.
func (c *Connection) Heard() {
	c.pause = 0
	if c.heard != nil {
		c.heard()
	}
}

// lose notes that the connection is lost.
func (c *Connection) lose(failure error) {
	if !c.lost {
		c.lost = true
		c.changed(failure)
	}
}

// Retry pauses before the next attempt, each time longer. It returns an error when there must be none: the context's, or a
// refusal that lasts. A nil failure is the ordinary end of a watch or of a log; news end the pause after that.
func (c *Connection) Retry(ctx context.Context, failure error, news <-chan struct{}) error {
	if failure != nil {
		if c.refused(failure) {
			return failure
		}
		c.lose(failure)
		news = nil
	}
	c.pause = min(max(2*c.pause, c.timing.Retry.First), c.timing.Retry.Max)
	timer := time.NewTimer(wait.Jitter(c.pause, 0.2)) //nolint:forbidigo // tests set Retry, and wait for nothing
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	case <-news:
	}
	return nil
}

// refused reports that failure is a refusal that will not go away.
func (c *Connection) refused(failure error) bool {
	if !isRefusal(failure) {
		c.refusedSince = time.Time{}
		return false
	}
	now := c.timing.Now()
	if c.refusedSince.IsZero() {
		c.refusedSince = now
	}
	return now.Sub(c.refusedSince) >= c.timing.Retry.RefusalGrace
}

func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) || apierrors.IsMethodNotSupported(err)
}
