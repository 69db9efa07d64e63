package feed

import (
	"slices"
	"sync"
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

	mu   sync.Mutex
	lost []*State // in the order of time
}

// NewLink returns one that calls changed whenever a connection is lost or back; never twice at a time.
func NewLink(timing Timing, changed func(State)) *Link {
	return &Link{timing: timing, changed: changed}
}

// Open adds a connection.
func (l *Link) Open() *Connection {
	own := &State{}
	return NewConnection(l.timing, func(failure error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if failure == nil {
			l.lost = slices.DeleteFunc(l.lost, func(other *State) bool { return other == own })
		} else {
			*own = State{StaleSince: l.timing.Now(), Err: failure}
			l.lost = append(l.lost, own)
		}
		l.changed(l.state())
	})
}

// State is that of the connection that is lost for longest.
func (l *Link) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state()
}

func (l *Link) state() State {
	if len(l.lost) == 0 {
		return State{}
	}
	return *l.lost[0]
}
