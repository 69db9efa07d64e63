package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/klog/v2"
)

// Server serves one address. The zero Server is off.
type Server struct {
	name     string
	listener net.Listener
	handler  http.Handler
	tls      *tls.Config
}

// Off is the address that disables a server.
const Off = "0"

// Listen opens the address, HOST:PORT or :PORT, with TLS if config is not nil. Requests are not answered before Run. The name
// is used in errors.
func Listen(name, address string, handler http.Handler, config *tls.Config) (*Server, error) {
	if address == Off || address == "" {
		return &Server{}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s for %s: %w", address, name, err)
	}
	return &Server{name: name, listener: listener, handler: handler, tls: config}, nil
}

// URL returns the server's base URL, "" if it is off.
func (s *Server) URL() string {
	switch {
	case s.listener == nil:
		return ""
	case s.tls != nil:
		return "https://" + s.listener.Addr().String()
	}
	return "http://" + s.listener.Addr().String()
}

// Limits on clients, so that they cannot keep a connection open without reading or writing.
const (
	headerTimeout = 10 * time.Second
	answerTimeout = time.Minute
	idleTimeout   = 90 * time.Second
	maxHeader     = 32 << 10
	shutdownTime  = 3 * time.Second
)

// Run serves until ctx is done, and then waits up to shutdownTime for requests in flight.
func (s *Server) Run(ctx context.Context) error {
	if s.listener == nil {
		return nil
	}
	server := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: answerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ConnState: new(peers).limitConnections,
		ErrorLog: klog.NewStandardLogger("INFO"),
	}
	listener := s.listener
	if s.tls != nil {
		listener = tls.NewListener(listener, s.tls)
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()
		if server.Shutdown(ending) != nil {
			_ = server.Close()
		}
	})
	err := server.Serve(listener)
	if !stop() {
		<-ended // Serve does not wait for requests.
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving %s on %s: %w", s.name, s.listener.Addr(), err)
	}
	return nil
}

// Close closes a server that is not running.
func (s *Server) Close() {
	if s.listener != nil {
		_ = s.listener.Close()
	}
}
