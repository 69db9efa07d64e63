package serving

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// pipes is a listener for in-memory connections made by a test.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) { return p.dialFrom("") }

// dialFrom connects from the given address.
func (p *pipes) dialFrom(peer string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p.conns <- pipe{theirs, peer}
	return ours, nil
}

// pipe is a connection with the address of its peer.
type pipe struct {
	net.Conn
	peer string
}

func (p pipe) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(p.peer), Port: 1234} }

// JOB-52: a request in flight during shutdown is answered, unless it takes too long: shutdown waits for it, but not forever.
func TestShutdownWaitsForRequests(t *testing.T) {
	for name, c := range map[string]struct {
		takes, ends time.Duration
		answered    bool
	}{
		"a moment": {2 * time.Second, 2 * time.Second, true},
		"too long": {answerTimeout / 2, shutdownTime, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener := newPipes()
				s := &Server{name: "a test", listener: listener, handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-time.After(c.takes):
					case <-r.Context().Done():
						return
					}
					_, _ = io.WriteString(w, "done")
				})}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- s.Run(ctx) }()
				answered := make(chan bool, 1)
				go func() {
					client := http.Client{Transport: &http.Transport{DialContext: listener.dial, DisableKeepAlives: true}}
					answer, err := client.Get("http://test/")
					if err == nil {
						answer.Body.Close()
					}
					answered <- err == nil
				}()
				synctest.Wait()
				begun := time.Now()
				cancel()
				assert.NoError(t, <-ended)
				// Shutdown polls for idle connections.
				if took := time.Since(begun); took < c.ends || took > c.ends+time.Second {
					t.Errorf("it ended after %v", took)
				}
				assert.Equal(t, <-answered, c.answered, "answered")
			})
		})
	}
}
