package requests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// DefaultTimeout is longer than kube-apiserver takes, which answers every request after 60 s at the latest
// (its --request-timeout), with the reason for the delay. Giving up earlier would leave the result of slow writes unknown (ADR
// 0028).
const DefaultTimeout = 75 * time.Second

// Limits are the time limits of the requests of one process.
type Limits struct {
	// Notice is how long a request waits until Print is called with one line. It is called once, and again only after a request
	// has reached its timeout.
	Notice time.Duration
	Print  func(line string)
	Now    func() time.Time
	// After calls fire once d has passed, unless stop is called first.
	After func(d time.Duration, fire func()) (stop func())

	mu      sync.Mutex
	printed bool
}

// TimeoutError is the error of a request that reached its timeout. Its result is unknown.
type TimeoutError struct {
	Call    apicall.Call
	Server  string // scheme and host
	Timeout time.Duration
	Began   bool      // part of the response had arrived
	At      time.Time // when the timeout was reached
}

func (e *TimeoutError) Error() string {
	what := "no answer"
	if e.Began {
		what = "no more data"
	}
	return fmt.Sprintf("%s from the API server at %s within %s: %s", what, e.Server, wording.Duration(e.Timeout), e.Call)
}

type followedKey struct{}

// Followed returns a context whose requests print no notices, because a Pulse reports that the API server is silent.
func Followed(ctx context.Context) context.Context {
	return context.WithValue(ctx, followedKey{}, true)
}

// Wrap returns a transport whose requests wait for the first and for the next part of their responses until timeout, 0 for no
// limit. A response that takes longer in total, such as a long log on a slow line, is not cut off. It must be the innermost
// transport, so that it finds the proxy of next.
func (l *Limits) Wrap(next http.RoundTripper, timeout time.Duration) http.RoundTripper {
	return &transport{limits: l, timeout: timeout, next: next, proxy: proxyOf(next)}
}

type transport struct {
	limits  *Limits
	timeout time.Duration
	next    http.RoundTripper
	proxy   proxyFunc
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	hasCredentials(r)
	way, r := t.trace(r)
	if isFollowing(r) {
		response, err := t.next.RoundTrip(r)
		return response, way.explain(err)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	s := &silence{transport: t, route: way, request: r.WithContext(ctx), cancel: cancel}
	s.begin()
	response, err := t.next.RoundTrip(s.request)
	s.end()
	if err != nil {
		err = way.explain(s.explain(err))
		cancel(nil)
		return nil, err
	}
	response.Body = &body{response.Body, s}
	return response, nil
}

// isFollowing reports whether a request is a watch or follows a log.
func isFollowing(r *http.Request) bool {
	query := r.URL.Query()
	return query.Get("watch") == "true" || query.Get("follow") == "true"
}

// silence limits how long a request waits for the next part of its response.
type silence struct {
	*transport
	route   *route
	request *http.Request
	cancel  context.CancelCauseFunc

	mu     sync.Mutex
	began  bool     // part of the response has arrived
	timers []func() // stop them; nil while the request does not wait
}

func (s *silence) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timers = []func(){s.limits.After(s.limits.Notice, func() { s.unlessOver(s.notice) })}
	if s.timeout > 0 {
		s.timers = append(s.timers, s.limits.After(s.timeout, func() { s.unlessOver(s.giveUp) }))
	}
}

// end stops the timers. Data has arrived, or the request has failed.
func (s *silence) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stop := range s.timers {
		stop()
	}
	s.timers, s.began = nil, true
}

// unlessOver calls f if the request still waits: a timer may fire while it is stopped.
func (s *silence) unlessOver(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timers != nil {
		f()
	}
}

func (s *silence) notice() {
	if s.request.Context().Value(followedKey{}) == nil {
		s.limits.printOnce(fmt.Sprintf("Waiting for the API server at %s%s to answer: %s", serverOf(s.request.URL), s.route, callOf(s.request)))
	}
}

// printOnce prints a notice, unless one was printed since the last timeout.
func (l *Limits) printOnce(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.printed {
		l.printed = true
		l.Print(line)
	}
}

func (s *silence) giveUp() {
	s.limits.mu.Lock()
	s.limits.printed = false
	s.limits.mu.Unlock()
	s.cancel(&TimeoutError{Call: callOf(s.request), Server: serverOf(s.request.URL), Timeout: s.timeout, Began: s.began, At: s.limits.Now()})
}

// explain returns the TimeoutError of a request that reached its limit, and otherwise err.
func (s *silence) explain(err error) error {
	if timeout, is := errors.AsType[*TimeoutError](context.Cause(s.request.Context())); is {
		return timeout
	}
	return err
}

// body is the body of a response. Time counts only while it is read: the reader may be slow, for example a pager.
type body struct {
	io.ReadCloser
	silence *silence
}

func (b *body) Read(p []byte) (int, error) {
	b.silence.begin()
	n, err := b.ReadCloser.Read(p)
	b.silence.end()
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.silence.explain(err)
	}
	return n, err
}

func (b *body) Close() error {
	b.silence.cancel(nil)
	return b.ReadCloser.Close()
}

func serverOf(u *url.URL) string { return u.Scheme + "://" + u.Host }

// callOf names a request by its method and path. The path may have a prefix, as behind Rancher's proxy. For a path that belongs
// to no resource, such as /version, the path is the resource.
func callOf(r *http.Request) apicall.Call {
	verbs := map[string]string{
		http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
	}
	call := apicall.Call{Verb: verbs[r.Method], Resource: r.URL.Path}
	var parts []string
	if _, path, found := strings.Cut(r.URL.Path, "/api/v1/"); found {
		parts = strings.Split(path, "/")
	} else if _, path, found := strings.Cut(r.URL.Path, "/apis/"); found {
		if all := strings.Split(path, "/"); len(all) > 2 { // group and version
			call.Group, parts = all[0], all[2:]
		}
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		call.Namespace, parts = parts[1], parts[2:]
	}
	if len(parts) == 0 {
		return call
	}
	call.Resource = parts[0]
	if len(parts) > 1 {
		call.Name = parts[1]
	} else if r.Method == http.MethodGet {
		call.Verb = "list"
	}
	if len(parts) > 2 {
		call.Resource += "/" + strings.Join(parts[2:], "/")
	}
	return call
}
