// Package serverclock shows the time of the API server, whatever the clock of this machine is.
package serverclock

import (
	"net/http"
	"sync"
	"time"
)

// Clock learns the time from the answers of the API server. The times in objects are the cluster's, so ages and countdowns
// would be wrong by as much as the clock of this machine is. Until the first answer, and as long as the two clocks may
// agree, it shows the local time.
type Clock struct {
	local func() time.Time

	mu     sync.Mutex
	offset time.Duration // of the server's clock from the local one
}

// New returns a Clock that starts as the local clock.
func New(local func() time.Time) *Clock { return &Clock{local: local} }

// Now returns the time of the API server.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.local().Add(c.offset)
}

// Wrap returns a transport that sets the clock by the answers to its requests.
func (c *Clock) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		sent := c.local()
		answer, err := next.RoundTrip(r)
		if err == nil {
			c.set(answer.Header, sent, c.local())
		}
		return answer, err
	})
}

// set moves the clock as little as an answer demands. The header Date has whole seconds, and was written at some time
// between sent and received.
func (c *Clock) set(header http.Header, sent, received time.Time) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil || header.Get("Age") != "" { // A cache answered.
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = min(max(c.offset, date.Sub(received)), date.Add(time.Second).Sub(sent))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
