package feed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func realTiming() Timing {
	return Timing{
		Now: time.Now, Backoff: Backoff{Patience: 3 * time.Second},
		Ticks: func(d time.Duration) (<-chan time.Time, func()) {
			ticker := time.NewTicker(d)
			return ticker.C, ticker.Stop
		},
	}
}

// The API server hangs: the connection stays open, but no data arrives (CLI-07).
func TestSilentServerIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		var states []string
		link := NewLink(realTiming(), func(s State) {
			note := "back"
			if s.Err != nil {
				note = fmt.Sprintf("%v since %s", s.Err, s.StaleSince.Sub(began))
			}
			states = append(states, fmt.Sprintf("%s at %s", note, time.Since(began)))
		})
		var hangs atomic.Bool
		var probes atomic.Int32
		pulse := Pulse{Link: link, Probe: func(ctx context.Context) error {
			probes.Add(1)
			if hangs.Load() {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}
		watch := link.Open()
		go func() { _ = pulse.Run(ctx) }()
		// A watch that receives events needs no probe.
		for range 20 {
			time.Sleep(900 * time.Millisecond)
			watch.Received()
		}
		if probes.Load() != 0 || len(states) != 0 {
			t.Errorf("while the watch delivers: %d probes, %q", probes.Load(), states)
		}
		time.Sleep(10*time.Second + 250*time.Millisecond) // so that the server hangs between two probes
		if n := probes.Load(); n < 4 || n > 5 || len(states) != 0 {
			t.Errorf("while nothing happens: %d probes in 10s, %q", probes.Load(), states)
		}
		hangs.Store(true)
		time.Sleep(20 * time.Second)
		hangs.Store(false)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if len(states) != 2 || states[0] != "no answer from the API server since 28s at 33s" || states[1] != "back at 51s" {
			t.Errorf("%q", states)
		}
	})
}

// Requirements: CLI-07
func TestAnyAnswerOfTheServerCounts(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, true},
		{apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no")), true},
		{apierrors.NewUnauthorized("no"), true},
		{apierrors.NewTooManyRequestsError("later"), true},
		{apierrors.NewInternalError(errors.New("livez check failed")), true},
		{apierrors.NewServiceUnavailable("a load balancer without a server"), false},
		{apierrors.NewGenericServerResponse(502, "GET", schema.GroupResource{}, "", "", 0, true), false},
		{context.Canceled, false},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, false},
	} {
		assert.Equal(t, isAnswer(c.err), c.want, c.err)
	}
}
