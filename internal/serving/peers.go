package serving

import (
	"net"
	"net/http"
	"sync"
)

// maxPeerConnections is how many connections one address may have open: each uses memory, and most may be idle for up to
// idleTimeout. A scraper or a kubelet needs a few.
const maxPeerConnections = 50

// peers counts activities in progress by address. The zero value is ready to use.
type peers struct {
	mu    sync.Mutex
	count map[string]int
}

// enter adds an activity until leave is called, and returns the number in progress for the address.
func (p *peers) enter(address string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count == nil {
		p.count = map[string]int{}
	}
	p.count[address]++
	return p.count[address]
}

func (p *peers) leave(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count[address]--; p.count[address] <= 0 {
		delete(p.count, address)
	}
}

// limitConnections closes new connections of an address that has too many. It is an http.Server.ConnState.
func (p *peers) limitConnections(c net.Conn, state http.ConnState) {
	switch peer := hostOf(c.RemoteAddr().String()); state {
	case http.StateNew:
		if p.enter(peer) > maxPeerConnections {
			_ = c.Close()
		}
	case http.StateClosed, http.StateHijacked:
		p.leave(peer)
	}
}

// hostOf returns an address without the port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
