package feed

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/requests"
)

// Issue 6, CLI-07: if several connections are lost, the Link reports the one that has been lost for longest.
func TestLongestLostConnectionIsReported(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := began
	var last State
	link := NewLink(Timing{Now: func() time.Time { return now }, Backoff: Backoff{RefusalGrace: time.Minute}}, func(s State) { last = s })
	ended, end := context.WithCancel(context.Background())
	end() // No caller waits for the next attempt.
	pods, jobs := link.Open(), link.Open()
	state := func(why string, after time.Duration) {
		t.Helper()
		got := link.State()
		if why == "" && got == (State{}) && last == got {
			return
		}
		if got.Err == nil || got.Err.Error() != why || got.StaleSince.Sub(began) != after || last != got {
			t.Errorf("%+v, want %q after %s", got, why, after)
		}
	}
	state("", 0)
	_ = pods.AwaitRetry(ended, errors.New("pods: first"), nil)
	now = now.Add(time.Minute)
	_ = jobs.AwaitRetry(ended, errors.New("jobs: second"), nil)
	state("pods: first", 0)
	pods.Connected()
	state("jobs: second", time.Minute)
	now = now.Add(time.Minute)
	_ = pods.AwaitRetry(ended, errors.New("pods: third"), nil)
	state("jobs: second", time.Minute)
	jobs.Connected()
	state("pods: third", 2*time.Minute)
	pods.Connected()
	state("", 0)
}

// A timeout that is reported only after the API server has answered again is over; the next one is not.
// Requirements: CLI-07
func TestTimeoutFromBeforeAnAnswerIsNoLoss(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	link := NewLink(Timing{Now: func() time.Time { return now }}, func(State) {})
	ended, end := context.WithCancel(context.Background())
	end() // No caller waits for the next attempt.
	watch, list := link.Open(), link.Open()
	timeout := &requests.TimeoutError{At: now}
	now = now.Add(time.Second)
	watch.Received()
	_ = list.AwaitRetry(ended, timeout, nil)
	if got := link.State(); got.Err != nil {
		t.Errorf("lost: %v", got.Err)
	}
	now = now.Add(time.Second)
	_ = list.AwaitRetry(ended, &requests.TimeoutError{At: now}, nil)
	if got := link.State(); got.Err == nil || got.StaleSince != now {
		t.Errorf("not lost: %+v", got)
	}
}
