package integration

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// watches chooses the watches of a resource.
func watches(resource string) match {
	return func(c call) bool { return c.watch && c.method == http.MethodGet && c.resource == resource }
}

// stream is what a watch of a controller brings. It can be kept back, or end.
type stream struct {
	io.ReadCloser
	call call
	ctx  context.Context

	mu sync.Mutex
	// closed while nothing is kept back.
	flows chan struct{}
	ended bool
	// received is how many bytes it has brought.
	received int
}

// follow keeps an eye on the answer to a watch.
func (w *wire) follow(ctx context.Context, c call, body io.ReadCloser) io.ReadCloser {
	s := &stream{ReadCloser: body, call: c, ctx: ctx, flows: make(chan struct{})}
	close(s.flows)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watches = append(w.watches, s)
	return s
}

// received is how many bytes the watches that match have brought.
func (w *wire) received(m match) (bytes int) {
	w.each(m, func(s *stream) { bytes += s.received })
	return bytes
}

// freeze keeps back what the watches that match bring from now on: the controller's
// cache grows old.
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

// endWatches closes the watches that match.
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

// Read is called by the client; what arrives while the stream is kept back waits.
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
