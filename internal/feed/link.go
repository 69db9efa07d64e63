package feed

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// State is that of the connection to the API server; the zero value is a good one.
type State struct {
	// StaleSince is when what was handed over stopped being kept up to date.
	StaleSince time.Time
	// Err is why, nil while it is.
	Err error
}

// Link is the state of several connections together: what they deliver is stale as long as one of them is lost.
type Link struct {
	timing  Timing
	changed func(State)
	state   atomic.Pointer[State] // as changed gets it, which may ask for it

	mu    sync.Mutex
	lost  []*State // in the order of time
	heard time.Time
}

// NewLink returns one that calls changed whenever a connection is lost or back; never twice at a time.
func NewLink(timing Timing, changed func(State)) *Link {
	return &Link{timing: timing, changed: changed}
}

// Open adds a connection.
func (l *Link) Open() *Connection {
	own := &State{}
	connection := NewConnection(l.timing, func(failure error) { l.change(own, failure) })
	connection.heard = l.hear
	return connection
}

// change notes that one connection is lost or back.
func (l *Link) change(own *State, failure error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = slices.DeleteFunc(l.lost, func(other *State) bool { return other == own })
	switch {
	case errors.Is(failure, ErrNoAnswer):
		*own = State{StaleSince: l.heard, Err: failure}
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

// hear notes that the API server answers.
func (l *Link) hear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = l.timing.Now()
}

// lastHeard is when it last did.
func (l *Link) lastHeard() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard
}

// State is that of the connection that is lost for longest.
func (l *Link) State() State {
	if state := l.state.Load(); state != nil {
		return *state
	}
	return State{}
}

// AsOf is the time up to which the cluster is known.
func (l *Link) AsOf(now time.Time) time.Time {
	if state := l.State(); state.Err != nil {
		return state.StaleSince
	}
	return now
}
