package feed

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// State is the state of the connection to the API server; in its zero value the connection is up.
type State struct {
	// StaleSince is the time since which the reported data is out of date.
	StaleSince time.Time
	// Err is the reason; nil if the data is up to date.
	Err error
}

// Link returns the state in the form that a Snapshot holds.
func (s State) Link(explain func(error) string) snapshot.Link {
	if s.Err == nil {
		return snapshot.Link{}
	}
	return snapshot.Link{
		StaleSince: &s.StaleSince, Silent: errors.Is(s.Err, ErrNoAnswer), Answered: IsAnswer(s.Err), Why: explain(s.Err),
	}
}

// IsAnswer reports whether failure is a response of the API server itself, so that the connection is not lost, rather than of
// a proxy that cannot reach it.
func IsAnswer(failure error) bool {
	var status apierrors.APIStatus
	return errors.As(failure, &status) && !apierrors.IsUnexpectedServerError(failure)
}

// Link combines the states of several connections: their data is stale if any of them is lost.
type Link struct {
	timing  Timing
	changed func(State)
	state   atomic.Pointer[State] // stored before changed is called, so that changed may read it

	mu          sync.Mutex
	lost        []*State // lost connections, oldest first
	respondedAt time.Time
}

// NewLink returns a Link that calls changed, never concurrently, when a connection is lost or restored.
func NewLink(timing Timing, changed func(State)) *Link {
	return &Link{timing: timing, changed: changed}
}

// Open adds a connection.
func (l *Link) Open() *Connection {
	own := &State{}
	connection := NewConnection(l.timing, func(failure error) { l.change(own, failure) })
	connection.onData, connection.lastData = l.setResponded, l.lastResponse
	return connection
}

// change records that one connection is lost or restored.
func (l *Link) change(own *State, failure error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = slices.DeleteFunc(l.lost, func(other *State) bool { return other == own })
	switch {
	case errors.Is(failure, ErrNoAnswer):
		*own = State{StaleSince: l.respondedAt, Err: failure}
		l.lost = slices.Insert(l.lost, 0, own)
	case failure != nil:
		*own = State{StaleSince: l.timing.Now(), Err: failure}
		l.lost = append(l.lost, own)
	}
	state := State{}
	if len(l.lost) > 0 {
		state = *l.lost[0]
	}
	l.state.Store(&state)
	l.changed(state)
}

// setResponded records the time at which the API server last responded.
func (l *Link) setResponded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.respondedAt = l.timing.Now()
}

// lastResponse returns the time at which the API server last responded.
func (l *Link) lastResponse() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.respondedAt
}

// State returns the state of the connection that has been lost for longest.
func (l *Link) State() State {
	if state := l.state.Load(); state != nil {
		return *state
	}
	return State{}
}

// AsOf returns the time up to which the cluster's state is known.
func (l *Link) AsOf(now time.Time) time.Time {
	if state := l.State(); state.Err != nil {
		return state.StaleSince
	}
	return now
}
