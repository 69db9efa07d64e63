package requests

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// ProxyError is the error of a request for which a proxy made no connection to the API server. The request was not sent.
type ProxyError struct {
	Proxy  string // its URL, without a password
	Server string // scheme and host of the API server
	Err    *net.OpError
}

func (e *ProxyError) Error() string { return fmt.Sprintf("proxy %s: %v", e.Proxy, e.Err.Err) }

func (e *ProxyError) Unwrap() error { return e.Err }

// proxyFunc returns the proxy for a request, nil for none.
type proxyFunc func(*http.Request) (*url.URL, error)

// proxyOf returns the function that chooses the proxy of a transport, nil if it is unknown.
func proxyOf(next http.RoundTripper) proxyFunc {
	for {
		switch known := next.(type) {
		case *http.Transport:
			return known.Proxy
		case utilnet.RoundTripperWrapper:
			next = known.WrappedRoundTripper()
		default:
			return nil
		}
	}
}

// route is the way of a request through a proxy; nil for a request without a proxy.
type route struct {
	proxy      *url.URL
	server     *url.URL
	connected  atomic.Bool  // the request has a connection to the API server
	handshakes atomic.Int32 // begun TLS handshakes: with the proxy if it uses TLS, then with the API server
}

// trace returns the request with a trace of its route.
func (t *transport) trace(r *http.Request) (*route, *http.Request) {
	if t.proxy == nil {
		return nil, r
	}
	proxy, err := t.proxy(r)
	if err != nil || proxy == nil { // The request will fail with the error.
		return nil, r
	}
	way := &route{proxy: proxy, server: r.URL}
	return way, r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn:           func(httptrace.GotConnInfo) { way.connected.Store(true) },
		TLSHandshakeStart: func() { way.handshakes.Add(1) },
	}))
}

// explain returns a ProxyError if the request failed before the proxy had made a connection to the API server. net/http marks
// only some of these errors, and not the proxy's refusal.
func (w *route) explain(err error) error {
	if err == nil || w == nil || w.connected.Load() || w.handshakes.Load() > w.ownHandshakes() {
		return err
	}
	failed, is := errors.AsType[*net.OpError](err)
	if !is || failed.Op != proxyConnect {
		failed = &net.OpError{Op: proxyConnect, Net: "tcp", Err: err}
	}
	return &ProxyError{Proxy: w.proxy.Redacted(), Server: serverOf(w.server), Err: failed}
}

// proxyConnect is the operation of net/http's errors in reaching a proxy.
const proxyConnect = "proxyconnect"

// String returns the words for a notice, "" without a proxy.
func (w *route) String() string {
	if w == nil {
		return ""
	}
	return " through the proxy " + w.proxy.Redacted()
}

// ownHandshakes returns the number of TLS handshakes with the proxy itself.
func (w *route) ownHandshakes() int32 {
	if w.proxy.Scheme == "https" {
		return 1
	}
	return 0
}
