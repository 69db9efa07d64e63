package kube_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// limiter calls wait for each request.
type limiter struct {
	flowcontrol.RateLimiter
	wait func(context.Context) error
}

func (l limiter) Wait(ctx context.Context) error { return l.wait(ctx) }

// podServer counts creations of pods that it received whole, and responds with answer, or accepts them if it is nil. The
// header of a request that is given up may arrive (see withUnsentBody): without its body the API server creates nothing.
func podServer(t *testing.T, http2 bool, answer http.HandlerFunc) (config *rest.Config, received *atomic.Int32) {
	received = &atomic.Int32{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		received.Add(1)
		if answer != nil {
			answer(w, r)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","uid":"u"}}`))
	}))
	server.EnableHTTP2 = http2
	server.StartTLS()
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, received
}

func createPod(ctx context.Context, t *testing.T, config *rest.Config) error {
	t.Helper()
	client, err := kube.NewForConfig(config)
	assert.NoError(t, err)
	_, err = client.CoreV1().Pods("ns").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	return err
}

// A call that waits for the rate limiter when the process stops is not sent, even if it gets a token at the same
// moment.
// Requirements: JOB-66
func TestCallThatWaitsForTheLimiterIsNotSent(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, stop func()) error{
		"waits": func(ctx context.Context, stop func()) error {
			stop()
			<-ctx.Done()
			return ctx.Err()
		},
		"gets a token": func(_ context.Context, stop func()) error {
			stop()
			return nil
		},
	} {
		config, received := podServer(t, true, nil)
		ctx, stop := context.WithCancel(t.Context())
		config.RateLimiter = limiter{wait: func(ctx context.Context) error { return wait(ctx, stop) }}
		if err := createPod(kube.UntilSent(ctx), t, config); !errors.Is(err, kube.ErrUnsent) || received.Load() != 0 {
			t.Errorf("%s: %v, and %d requests", name, err, received.Load())
		}
	}
}

// A call that begins after the process has stopped is not sent, even without a rate limiter.
// Requirements: JOB-66
func TestCallAfterTheEndIsNotSent(t *testing.T) {
	config, received := podServer(t, true, nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := createPod(kube.UntilSent(ctx), t, config); !errors.Is(err, kube.ErrUnsent) || received.Load() != 0 {
		t.Errorf("%v, and %d requests", err, received.Load())
	}
}

// A call that waits for a connection when the process stops, as in an outage, is not sent once there is a connection.
// Requirements: JOB-66
func TestCallThatWaitsForAConnectionIsNotSent(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		config, received := podServer(t, http2, nil)
		ctx, stop := context.WithCancel(t.Context())
		outage, connected := make(chan struct{}), make(chan struct{})
		config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			defer close(connected)
			stop()
			<-outage
			return (&net.Dialer{}).DialContext(context.WithoutCancel(ctx), network, address)
		}
		err := createPod(kube.UntilSent(ctx), t, config)
		close(outage)
		<-connected
		if !errors.Is(err, kube.ErrUnsent) || received.Load() != 0 {
			t.Errorf("HTTP/2 %t: %v, and %d requests", http2, err, received.Load())
		}
	}
}

// A kept connection may be dead, as in an outage: the call waits for another one, and is not sent if the process has
// stopped in the meantime.
// Requirements: JOB-66
func TestCallThatWaitsToReplaceADeadConnectionIsNotSent(t *testing.T) {
	config, received := podServer(t, false, nil)
	config.Timeout = 5 * time.Minute
	ctx, stop := context.WithCancel(t.Context())
	outage, connected := make(chan struct{}), make(chan struct{})
	var kept *severed
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx = context.WithoutCancel(ctx)
		if kept != nil {
			defer close(connected)
			stop()
			<-outage
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		kept = &severed{Conn: conn}
		return kept, err
	}
	client, err := kube.NewForConfig(config)
	assert.NoError(t, err)
	create := func() error {
		_, err := client.CoreV1().Pods("ns").Create(kube.UntilSent(ctx), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
		return err
	}
	assert.NoError(t, create())
	kept.dead.Store(true)
	err = create()
	close(outage)
	<-connected
	if !errors.Is(err, kube.ErrUnsent) || received.Load() != 1 {
		t.Errorf("%v, and %d requests", err, received.Load())
	}
}

// severed is a connection whose writes fail once it is dead.
type severed struct {
	net.Conn
	dead atomic.Bool
}

func (s *severed) Write(p []byte) (int, error) {
	if s.dead.Load() {
		return 0, errors.New("broken pipe")
	}
	return s.Conn.Write(p)
}

// A call that gets its connection at the very moment when the process stops is not sent.
// Requirements: JOB-66
func TestCallThatGetsItsConnectionTooLateIsNotSent(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		config, received := podServer(t, http2, nil)
		ctx, stop := context.WithCancel(t.Context())
		config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { stop() }} // Called before that of UntilSent.
				return next.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
			})
		}
		if err := createPod(kube.UntilSent(ctx), t, config); !errors.Is(err, kube.ErrUnsent) || received.Load() != 0 {
			t.Errorf("HTTP/2 %t: %v, and %d requests", http2, err, received.Load())
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A call that was sent before the process stops is completed.
// Requirements: JOB-56, JOB-66
func TestCallThatWasSentIsFinished(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		ctx, stop := context.WithCancel(t.Context())
		config, received := podServer(t, http2, func(_ http.ResponseWriter, r *http.Request) {
			stop()
			if err := r.Context().Err(); err != nil {
				t.Errorf("the request was canceled: %v", err)
			}
		})
		if err := createPod(kube.UntilSent(ctx), t, config); err != nil || received.Load() != 1 {
			t.Errorf("HTTP/2 %t: %v, and %d requests", http2, err, received.Load())
		}
	}
}

// client-go retries a request if the API server asks for that, but not if the process has stopped in the meantime.
// Requirements: JOB-66
func TestRefusedCallIsNotRepeatedAfterTheEnd(t *testing.T) {
	for name, limit := range map[string]flowcontrol.RateLimiter{"limited": flowcontrol.NewFakeAlwaysRateLimiter(), "not limited": nil} {
		for _, stops := range []bool{true, false} {
			ctx, stop := context.WithCancel(t.Context())
			config, received := podServer(t, true, func(w http.ResponseWriter, _ *http.Request) {
				if stops {
					stop()
				}
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
			})
			config.RateLimiter = limit
			err := createPod(kube.UntilSent(ctx), t, config)
			if repeated := received.Load() > 1; err == nil || errors.Is(err, kube.ErrUnsent) != stops || repeated == stops {
				t.Errorf("%s, stops %t: %v, and %d requests", name, stops, err, received.Load())
			}
			stop()
		}
	}
}
