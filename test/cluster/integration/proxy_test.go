package integration

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// proxy is a TCP proxy in front of the API server that can be closed and opened again.
type proxy struct {
	t      *testing.T
	target string
	addr   string
	wg     sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
}

func startProxy(t *testing.T, config *rest.Config) *proxy {
	t.Helper()
	target := config.Host
	if u, err := url.Parse(config.Host); err == nil && u.Host != "" {
		target = u.Host
	}
	p := &proxy{t: t, target: target, addr: "127.0.0.1:0", conns: map[net.Conn]bool{}}
	p.open()
	t.Cleanup(func() {
		p.close()
		p.wg.Wait()
	})
	return p
}

// config returns a copy of config that connects through the proxy.
func (p *proxy) config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = "https://" + p.addr
	return config
}

// open starts to accept connections, always on the same port.
func (p *proxy) open() {
	p.t.Helper()
	listener, err := net.Listen("tcp", p.addr)
	assert.NoError(p.t, err, "opening the proxy")
	p.addr = listener.Addr().String()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener = listener
	p.wg.Go(func() { p.accept(listener) })
}

// close breaks all connections, and rejects new ones.
func (p *proxy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listener.Close()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

func (p *proxy) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				p.t.Errorf("proxy: %v", err)
			}
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = conn.Close()
			continue
		}
		p.copy(conn, server)
		p.copy(server, conn)
	}
}

// copy forwards the data of one side until either side is closed.
func (p *proxy) copy(to, from net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[from] = true
	p.wg.Go(func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
		_ = from.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, from)
	})
}
