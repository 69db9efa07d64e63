package feed

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// ErrNoAnswer is the error of a connection that is open but silent.
var ErrNoAnswer = errors.New("no answer from the API server")

// pulsePeriod is how long a Link may be silent before a Pulse asks the API server.
const pulsePeriod = 2 * time.Second

// Silence returns how long an API server may be silent until a Pulse reports it.
func (b Backoff) Silence() time.Duration { return pulsePeriod + b.Patience }

// Pulse detects an API server that does not respond although no connection has failed. A watch is silent if nothing happens,
// but also if the server hangs or the network drops all packets; bookmarks come once a minute, and client-go's HTTP/2 pings
// take 45 seconds and are answered by the nearest proxy.
type Pulse struct {
	Link *Link
	// Probe is a cheap request. Any response of the API server counts, even a refusal.
	Probe func(context.Context) error
}

// Livez returns a probe that requests /livez without retries, because a Pulse repeats it.
func Livez(client kube.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		return client.CoreV1().RESTClient().Get().AbsPath("/livez").MaxRetries(0).Do(ctx).Error()
	}
}

// Run probes when the Link has been silent for pulsePeriod, until ctx is done.
func (p *Pulse) Run(ctx context.Context) error {
	connection, timing := p.Link.Open(), p.Link.timing
	p.Link.setResponded() // No data could arrive before now.
	for {
		silent := timing.Now().Sub(p.Link.lastResponse())
		if err := timing.Pause(ctx, max(pulsePeriod-silent, pulsePeriod/4), nil); err != nil {
			return err
		}
		if timing.Now().Sub(p.Link.lastResponse()) < pulsePeriod {
			connection.Connected()
			continue
		}
		err := p.probe(ctx)
		switch {
		case err == nil:
			p.Link.setResponded()
			connection.Connected()
		case ctx.Err() == nil:
			connection.setLost(err)
		}
	}
}

// probe probes once. It returns nil for any response, and ErrNoAnswer if there was neither a response nor an error.
func (p *Pulse) probe(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ticks, stop := p.Link.timing.Ticks(p.Link.timing.Backoff.Patience)
	defer stop()
	result := make(chan error, 1)
	go func() { result <- p.Probe(ctx) }()
	var err error
	select {
	case err = <-result:
	case <-ticks:
		cancel()
		if err = <-result; !isAnswer(err) {
			return ErrNoAnswer
		}
	}
	if isAnswer(err) {
		return nil
	}
	return err
}

// isAnswer reports whether the API server responded, rather than a proxy that cannot reach it.
func isAnswer(err error) bool {
	if err == nil {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch status.Status().Code {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return true
}
