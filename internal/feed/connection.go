package feed

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/batchjob-dev/kubectl-batchjob/internal/requests"
)

// Timing holds the clock, ticker and retry settings of a feed; tests replace them.
type Timing struct {
	Now     func() time.Time
	Ticks   func(time.Duration) (ticks <-chan time.Time, stop func())
	Backoff Backoff
}

// Backoff configures how a lost connection is detected and retried.
type Backoff struct {
	First, Max   time.Duration // the first and the longest pause; each pause is twice as long as the previous one
	RefusalGrace time.Duration // how long a 403 is retried: a starting API server has not loaded its RBAC rules yet
	Patience     time.Duration // how long a response may take: a busy API server needs a second now and then
}

// Pause waits for d, for wake, or for ctx. It returns ctx.Err().
func (t Timing) Pause(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	if d <= 0 {
		return ctx.Err()
	}
	ticks, stop := t.Ticks(d)
	defer stop()
	select {
	case <-ticks:
	case <-wake:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Connection tracks whether one connection is up, reports changes of that, and paces retries.
type Connection struct {
	timing  Timing
	changed func(failure error)
	// onData is called when data arrives, and lastData returns when the API server last responded on any connection; nil without a Link.
	onData   func()
	lastData func() time.Time

	lost         bool
	pause        time.Duration // the length of the previous pause, 0 after data has arrived
	refusedSince time.Time     // zero unless the server refuses requests
}

// NewConnection returns a Connection that calls changed with the error when it is lost, and with nil when it is restored.
func NewConnection(timing Timing, changed func(failure error)) *Connection {
	return &Connection{timing: timing, changed: changed}
}

// Connected records that the server responds, or that no request is pending anymore.
func (c *Connection) Connected() {
	if c.lost {
		c.changed(nil)
	}
	c.lost = false
	c.refusedSince = time.Time{}
}

// Received records that data arrived, so that the next pause is the shortest one.
func (c *Connection) Received() {
	c.pause = 0
	if c.onData != nil {
		c.onData()
	}
}

// setLost records that the connection is lost.
func (c *Connection) setLost(failure error) {
	if !c.lost {
		c.lost = true
		c.changed(failure)
	}
}

// AwaitRetry pauses before the next attempt, longer each time. It returns an error if there must be no next attempt: the
// context's, or a refusal that lasts. A nil failure is the regular end of a watch or a log; only then does wake end the
// pause.
func (c *Connection) AwaitRetry(ctx context.Context, failure error, wake <-chan struct{}) error {
	if failure != nil {
		if c.isLastingRefusal(failure) {
			return failure
		}
		if !c.isOver(failure) {
			c.setLost(failure)
		}
		wake = nil
	}
	c.pause = min(max(2*c.pause, c.timing.Backoff.First), c.timing.Backoff.Max)
	timer := time.NewTimer(wait.Jitter(c.pause, 0.2)) //nolint:forbidigo // tests set Backoff, and wait for nothing
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	case <-wake:
	}
	return nil
}

// isOver reports whether failure is a timeout that the API server has responded after: it was silent, and is not anymore.
func (c *Connection) isOver(failure error) bool {
	timeout, is := errors.AsType[*requests.TimeoutError](failure)
	return is && c.lastData != nil && !timeout.At.After(c.lastData())
}

// isLastingRefusal reports whether failure is a refusal that has outlasted RefusalGrace.
func (c *Connection) isLastingRefusal(failure error) bool {
	if !isRefusal(failure) {
		c.refusedSince = time.Time{}
		return false
	}
	now := c.timing.Now()
	if c.refusedSince.IsZero() {
		c.refusedSince = now
	}
	return now.Sub(c.refusedSince) >= c.timing.Backoff.RefusalGrace
}

func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) || apierrors.IsMethodNotSupported(err)
}
