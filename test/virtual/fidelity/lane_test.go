package fidelity

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
)

// lane compares the virtual server with another server, one sequence after the other.
type lane struct {
	// newServer creates the other server, or a new namespace of it.
	newServer func() (server, error)
	server    server
}

// realLane returns a lane that compares with the real API server.
func realLane(ctx context.Context) *lane {
	return &lane{newServer: func() (server, error) { return newActual(ctx, client) }}
}

// difference is the first difference found in a sequence.
type difference struct {
	// at is the index of the call that showed it, or the number of calls if only the comparison at the end did.
	at int
	// virtual and actual are the answers of the servers.
	virtual, actual string
	// lines describe the differences; empty if there are none.
	lines []string
}

// played numbers the sequences of this process, so that names are unique.
var played atomic.Int64

// compare makes the calls to both servers, up to the first difference.
func (l *lane) compare(calls []call) (difference, error) {
	if l.server == nil {
		var err error
		if l.server, err = l.newServer(); err != nil {
			return difference{}, err
		}
	}
	prefix := fmt.Sprintf("s%d-", played.Add(1))
	v, r := newPlayer(newVirtual(), prefix), newPlayer(l.server, prefix)
	v.readsAlways = true
	for i, c := range calls {
		if c.verb == "namespace" {
			l.server = nil // No object can be created there anymore.
		}
		found, err := compareCall(v, r, c)
		if err != nil || len(found.lines) > 0 {
			found.at = i
			return found, err
		}
	}
	lines, err := compareAll(v, r)
	return difference{at: len(calls), lines: lines}, err
}

// compareCall makes a call to both servers, and returns the differences between answers and objects.
func compareCall(v, r *player, c call) (found difference, err error) {
	var state, actualState any
	if found.virtual, state, err = v.play(c); err != nil {
		return found, err
	}
	if found.actual, actualState, err = r.play(c); err != nil {
		return found, err
	}
	found.lines = append(differences("answer", found.virtual, found.actual), differences(c.object, state, actualState)...)
	return found, nil
}

// compareAll compares all objects.
func compareAll(v, r *player) (all []string, err error) {
	for _, label := range slices.Sorted(maps.Keys(v.objects)) {
		state, err := v.read(v.object(label))
		if err != nil {
			return nil, err
		}
		realState, err := r.read(r.object(label))
		if err != nil {
			return nil, err
		}
		all = append(all, differences(label, state, realState)...)
	}
	return all, nil
}
