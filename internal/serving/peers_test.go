package serving

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The number of connections of one address is bounded, other addresses are not affected, and closed connections make room.
// Requirements: JOB-67
func TestConnectionsOfOneAddressAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		s := &Server{name: "a test", listener: listener, handler: http.NotFoundHandler()}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		open := func(peer string) net.Conn {
			conn, err := listener.dialFrom(peer)
			assert.NoError(t, err)
			return conn
		}
		isServed := func(conn net.Conn) bool {
			_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			n, _ := conn.Read(make([]byte, 1000))
			return err == nil && n > 0
		}
		conns := make([]net.Conn, maxPeerConnections)
		for i := range conns {
			conns[i] = open("10.0.0.1")
		}
		surplus, other := open("10.0.0.1"), open("10.0.0.2")
		if isServed(surplus) || !isServed(other) || !isServed(conns[0]) {
			t.Error("the surplus connection is served, or another is not")
		}
		_ = conns[0].Close()
		synctest.Wait()
		if next := open("10.0.0.1"); !isServed(next) {
			t.Error("a connection that was closed makes no room")
		}
		cancel()
		assert.NoError(t, <-ended)
	})
}
