// Package serverclock provides the time of the API server, independently of the local clock.
package serverclock

import (
	"net/http"
	"sync"
	"time"
)

// Clock derives the API server's time from its responses. The times in objects are from the cluster, so ages and countdowns
// would be off by the error of the local clock. Until the first response, and while both clocks may agree, Clock returns the
// local time.
type Clock struct {
	local func() time.Time

	mu     sync.Mutex
	offset time.Duration // server time minus local time
}

// New returns a Clock that starts with the local time.
func New(local func() time.Time) *Clock { return &Clock{local: local} }

// Now returns the time of the API server.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.local().Add(c.offset)
}

// Wrap returns a transport that adjusts the clock to the responses to its requests.
func (c *Clock) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		sent := c.local()
		answer, err := next.RoundTrip(r)
		if err == nil {
			c.adjust(answer.Header, sent, c.local())
		}
		return answer, err
	})
}

// adjust adjusts the clock by the minimum that a response requires. The Date header has a resolution of one second, and was
// written at some time between sent and received.
func (c *Clock) adjust(header http.Header, sent, received time.Time) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil || header.Get("Age") != "" { // A cache responded.
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = min(max(c.offset, date.Sub(received)), date.Add(time.Second).Sub(sent))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
