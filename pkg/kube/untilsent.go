package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"

	"k8s.io/client-go/util/flowcontrol"
)

// ErrUnsent is the error of a request that was not sent because the context passed to UntilSent had ended.
var ErrUnsent = errors.New("the request was not sent, as the process stops or has lost its Lease")

type untilSentKey struct{}

// UntilSent returns a context for calls that must not begin after ctx has ended, but are completed if they have begun.
// When ctx ends, a request that was sent still gets its response. A request that waits for the rate limiter or for a
// connection, or that client-go would retry, fails with ErrUnsent.
func UntilSent(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), untilSentKey{}, ctx)
}

// untilSent returns the context passed to UntilSent, if UntilSent created ctx.
func untilSent(ctx context.Context) (until context.Context, is bool) {
	until, is = ctx.Value(untilSentKey{}).(context.Context)
	return until, is
}

// unsentLimiter ends the waits of UntilSent. client-go also waits here before it retries a request.
type unsentLimiter struct{ flowcontrol.RateLimiter }

func (l unsentLimiter) Wait(ctx context.Context) error {
	until, is := untilSent(ctx)
	if !is {
		return l.RateLimiter.Wait(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(until, cancel)()
	err := l.RateLimiter.Wait(ctx)
	if until.Err() != nil {
		return ErrUnsent
	}
	return err
}

// unsentTransport does not send requests whose UntilSent context has ended. Waiting for a connection may take as long
// as an outage, during which the Lease is lost.
type unsentTransport struct{ http.RoundTripper }

func (t unsentTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	until, is := untilSent(r.Context())
	if !is {
		return t.RoundTripper.RoundTrip(r)
	}
	if until.Err() != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, ErrUnsent
	}
	// The body of the response is read with this context, which ends with the context of the request.
	ctx, cancel := context.WithCancel(r.Context())
	disarm, sent := context.AfterFunc(until, cancel), false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// The connection may be dead: net/http waits for another one if it has sent nothing.
		GetConn: func(string) {
			disarm()
			disarm, sent = context.AfterFunc(until, cancel), false
		},
		GotConn: func(httptrace.GotConnInfo) {
			disarm()
			if sent = until.Err() == nil; !sent {
				cancel()
			}
		},
	})
	response, err := t.RoundTripper.RoundTrip(withUnsentBody(r.WithContext(ctx)))
	if err != nil {
		cancel()
		disarm()
		if !sent && until.Err() != nil {
			err = ErrUnsent
		}
	}
	return response, err
}

// withUnsentBody makes reading the body of r fail when its context is canceled. HTTP/1 writes a request to an existing
// connection even if the context has ended; the API server rejects a request without its body.
func withUnsentBody(r *http.Request) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	r.Body = unsentBody{r.Body, r.Context()}
	if get := r.GetBody; get != nil {
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := get()
			return unsentBody{body, r.Context()}, err
		}
	}
	return r
}

type unsentBody struct {
	io.ReadCloser
	ctx context.Context // that of the request, which has the body
}

func (b unsentBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}

// WrappedRoundTripper implements net.RoundTripperWrapper, which client-go uses to find the connections to close.
func (t unsentTransport) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }
