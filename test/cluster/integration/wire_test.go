package integration

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// call is one request of a controller.
type call struct {
	method string
	// resource is "pods", "jobs" or "jobs/status".
	resource string
	name     string
	body     []byte
	watch    bool
	// code is the API server's status code, or 0 if its response did not reach the controller.
	code int
}

func (c call) isWrite() bool { return c.method != http.MethodGet }

// match selects calls.
type match func(call) bool

func calls(method, resource string) match {
	return func(c call) bool { return c.method == method && c.resource == resource }
}

var (
	statusPut = calls(http.MethodPut, "jobs/status")
	podPost   = calls(http.MethodPost, "pods")
	podPatch  = calls(http.MethodPatch, "pods")
	anyWrite  = match(call.isWrite)
)

// holding narrows a match to requests whose body contains the text. It works on protobuf, which stores strings verbatim.
func (m match) holding(text string) match {
	return func(c call) bool { return m(c) && bytes.Contains(c.body, []byte(text)) }
}

// named narrows a match to requests of one object.
func (m match) named(name string) match {
	return func(c call) bool { return m(c) && c.name == name }
}

// wire is the connection between one controller and the API server. It records all requests, and disturbs some on
// request.
type wire struct {
	// severed reports whether the connection is permanently broken.
	severed atomic.Bool

	mu      sync.Mutex
	calls   []call
	faults  []*fault
	holds   []*held
	watches []*stream
}

// disturbance replaces the transmission of one call.
type disturbance func(send func() (*http.Response, error)) (*http.Response, error)

// fault disturbs the calls that match, until it is lifted.
type fault struct {
	wire    *wire
	match   match
	disturb disturbance

	// The remaining fields are guarded by wire.mu.
	lifted bool
	hits   int
}

// errCut is the error that a controller gets for a lost connection.
var errCut = errors.New("integration: the connection is cut")

func (w *wire) add(f *fault) *fault {
	f.wire = w
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, f)
	return f
}

// hold delays requests until the fault is lifted.
func (w *wire) hold(m match) *held {
	h := &held{open: make(chan struct{})}
	h.fault = w.add(&fault{match: m, disturb: func(send func() (*http.Response, error)) (*http.Response, error) {
		<-h.open
		return send()
	}})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holds = append(w.holds, h)
	return h
}

// held is a fault that delays requests.
type held struct {
	*fault
	open chan struct{}
	once sync.Once
}

func (h *held) lift() {
	h.fault.lift()
	h.once.Do(func() { close(h.open) })
}

// severAt breaks the connection permanently at the n-th write (n >= 1), before it reaches the API server, or, if
// committed, before its response comes back.
func (w *wire) severAt(n int64, committed bool) {
	var writes atomic.Int64
	w.add(&fault{match: anyWrite, disturb: func(send func() (*http.Response, error)) (*http.Response, error) {
		at := writes.Add(1)
		if at < n {
			return send()
		}
		if at == n && committed {
			if response, err := send(); err == nil {
				_ = response.Body.Close()
			}
		}
		w.severed.Store(true)
		return nil, errCut
	}})
}

func (f *fault) lift() {
	f.wire.mu.Lock()
	defer f.wire.mu.Unlock()
	f.lifted = true
}

// count returns how many calls the fault has disturbed.
func (f *fault) count() int {
	f.wire.mu.Lock()
	defer f.wire.mu.Unlock()
	return f.hits
}

// recorded returns the matching calls that have ended.
func (w *wire) recorded(m match) []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.calls), func(c call) bool { return !m(c) })
}

// answered returns the number of matching calls with this status code from the API server.
func (w *wire) answered(m match, code int) int {
	return len(w.recorded(func(c call) bool { return m(c) && c.code == code }))
}

func (w *wire) faultFor(c call) *fault {
	// The latest one wins.
	for _, f := range slices.Backward(w.faults) {
		if !f.lifted && f.match(c) {
			return f
		}
	}
	return nil
}

// untraced returns a context that ends with ctx and has none of its values: the connection to the API server is not the
// client's.
func untraced(ctx context.Context) context.Context {
	plain, cancel := context.WithCancel(context.Background())
	context.AfterFunc(ctx, cancel)
	return plain
}

// wrap is for rest.Config.WrapTransport.
func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		c, err := callOf(request)
		if err != nil {
			return nil, err
		}
		// A disturbed call counts as already sent: a client that stops does not cancel it (JOB-66).
		if trace := httptrace.ContextClientTrace(request.Context()); trace != nil && trace.GotConn != nil {
			trace.GotConn(httptrace.GotConnInfo{})
			request = request.WithContext(untraced(request.Context()))
		}
		send := func() (*http.Response, error) {
			if w.severed.Load() {
				return nil, errCut
			}
			if err := request.Context().Err(); err != nil {
				return nil, err
			}
			return next.RoundTrip(request)
		}
		var response *http.Response
		fault := w.begin(c)
		if fault == nil {
			response, err = send()
		} else {
			response, err = fault.within(request.Context(), send)
		}
		if err == nil {
			c.code = response.StatusCode
			if c.watch {
				response.Body = w.follow(c, response.Body)
			}
		}
		w.end(c)
		return response, err
	})
}

// within disturbs one call, which ends at the latest when the caller gives up.
func (f *fault) within(ctx context.Context, send func() (*http.Response, error)) (*http.Response, error) {
	type answer struct {
		response *http.Response
		err      error
	}
	done := make(chan answer, 1)
	go func() {
		response, err := f.disturb(send)
		done <- answer{response, err}
	}()
	select {
	case a := <-done:
		return a.response, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *wire) begin(c call) *fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.faultFor(c)
	if f != nil {
		f.hits++
	}
	return f
}

func (w *wire) end(c call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// callOf parses the request, and keeps its body readable.
func callOf(request *http.Request) (call, error) {
	c := call{method: request.Method, watch: request.URL.Query().Get("watch") != ""}
	// /api/v1/namespaces/NS/pods/NAME, /apis/batch/v1/namespaces/NS/jobs/NAME/status
	_, path, _ := strings.Cut(request.URL.Path, "/namespaces/")
	parts := append(strings.Split(path, "/"), "", "", "", "")
	c.resource, c.name = parts[1], parts[2]
	if parts[3] != "" {
		c.resource += "/" + parts[3]
	}
	if request.Body == nil {
		return c, nil
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return c, err
	}
	c.body = body
	request.Body = io.NopCloser(bytes.NewReader(body))
	return c, request.Context().Err()
}

// unblock ends all holds, so that a controller can stop.
func (w *wire) unblock() {
	w.mu.Lock()
	holds := slices.Clone(w.holds)
	w.mu.Unlock()
	for _, h := range holds {
		h.lift()
	}
}
