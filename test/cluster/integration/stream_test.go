package integration

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// watches matches the watches of a resource.
func watches(resource string) match {
	return func(c call) bool { return c.watch && c.method == http.MethodGet && c.resource == resource }
}

// stream is the response to a controller's watch. It can be frozen or ended.
type stream struct {
	io.ReadCloser
	call call
	ctx  context.Context

	mu sync.Mutex
	// flows is closed unless the stream is frozen.
	flows chan struct{}
	ended bool
	// received is the number of bytes delivered.
	received int
}

// follow wraps the response to a watch.
func (w *wire) follow(ctx context.Context, c call, body io.ReadCloser) io.ReadCloser {
	s := &stream{ReadCloser: body, call: c, ctx: ctx, flows: make(chan struct{})}
	close(s.flows)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watches = append(w.watches, s)
	return s
}

// received returns the number of bytes that the matching watches have delivered.
func (w *wire) received(m match) (bytes int) {
	w.each(m, func(s *stream) { bytes += s.received })
	return bytes
}

// freeze holds back the events of the matching watches from now on: the controller's cache becomes stale.
func (w *wire) freeze(m match) {
	w.each(m, func(s *stream) { s.flows = make(chan struct{}) })
}

// thaw ends all freezes.
func (w *wire) thaw() {
	w.each(func(call) bool { return true }, func(s *stream) {
		select {
		case <-s.flows:
		default:
			close(s.flows)
		}
	})
}

// endWatches closes the matching watches.
func (w *wire) endWatches(m match) {
	w.each(m, func(s *stream) {
		s.ended = true
		_ = s.Close()
	})
}

func (w *wire) each(m match, do func(*stream)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.watches {
		if m(s.call) {
			s.mu.Lock()
			do(s)
			s.mu.Unlock()
		}
	}
}

// Read is called by the client; data that arrives while the stream is frozen waits.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.mu.Lock()
	flows, ended := s.flows, s.ended
	s.received += n
	s.mu.Unlock()
	if ended {
		return 0, io.EOF
	}
	select {
	case <-flows:
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
	return n, err
}
