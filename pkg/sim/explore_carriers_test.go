package sim

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// carrier is what has read something and acts on it later: a sync in the middle of a call, or a
// write in flight for whose answer nobody waits. Its state is on the stack of a coroutine. What
// it will do is a function of what it has read, so that a hash of that stands for it.
type carrier struct {
	begun *beginning
	// hash is that of everything it has read.
	hash fingerprint
	// read are the versions of objects that it may name in preconditions.
	read []objectVersion
	// result are the versions in the answer that is on its way.
	result []objectVersion
}

// beginning is when a sync began: the depth, and the process. unknown is the first moment of which
// it did not know when it last planned.
type beginning struct {
	depth   int
	process *process
	unknown time.Time
}

// objectVersion is a version of an object, by its UID.
type objectVersion struct{ uid, version string }

// beforeStep is what a step may read.
type beforeStep struct {
	step    string
	hash    fingerprint
	read    []objectVersion
	unknown time.Time
	carrier *carrier
	process *process
	// arrival is set for a call that arrives at the API server.
	arrival *Call
	number  uint64
	version int64
}

func (r *run) beforeStep(s step) beforeStep {
	b := beforeStep{step: s.String(), number: r.world.number, version: r.world.Store.version, unknown: r.unknownBut(s)}
	r.planned = false
	if s.event == nil || s.event.process == nil {
		return b
	}
	b.process = s.event.process
	if s.event.routine != nil {
		b.carrier = r.carriers[s.event.routine]
	}
	if s.event.kind != fromCall && s.event.kind != fromTimer {
		return b
	}
	if s.event.kind == fromCall && s.event.text == asking {
		call := s.event.call
		b.arrival = &call
		return b
	}
	b.read = versionsIn(b.process)
	if r.depth >= r.since {
		e := newEncoder(r)
		e.engine(b.process)
		b.hash = e.sum()
	}
	return b
}

// unknownBut returns the first moment of which some process may not know, apart from the sync that
// the step continues.
func (r *run) unknownBut(s step) time.Time {
	if s.event != nil && s.event.routine != nil {
		if own := r.carriers[s.event.routine]; own != nil {
			delete(r.carriers, s.event.routine)
			defer func() { r.carriers[s.event.routine] = own }()
		}
	}
	return r.unknownSince()
}

// afterStep updates the carriers.
func (r *run) afterStep(b beforeStep) {
	alive := map[any]bool{}
	for i := range r.world.events {
		e := &r.world.events[i]
		var key any
		switch e.kind {
		case fromCall:
			key = e.routine
		case fromLateWrite:
			key = e.number
		default:
			continue
		}
		alive[key] = true
		if e.number > b.number {
			r.carriers[key] = r.carried(b)
		}
	}
	for key := range r.carriers {
		if !alive[key] {
			delete(r.carriers, key)
		}
	}
}

// carried returns what a sync has read after a step.
func (r *run) carried(b beforeStep) *carrier {
	c := &carrier{begun: &beginning{depth: r.depth - 1, process: b.process, unknown: b.unknown}, read: b.read}
	parts := []string{b.step, string(b.hash[:]), string(r.taken[1:])}
	if b.carrier != nil {
		if c.begun.depth = b.carrier.begun.depth; !r.planned {
			c.begun = b.carrier.begun
		}
		parts = append(parts, string(b.carrier.hash[:]))
		c.read = slices.Clone(b.carrier.read)
		for _, v := range b.read {
			if !slices.Contains(c.read, v) {
				c.read = append(c.read, v)
			}
		}
	}
	if b.arrival != nil {
		c.result = r.result(*b.arrival)
		parts = append(parts, r.outcome(b, c.result))
	}
	c.hash = hashOf([]byte(strings.Join(parts, "\x00")))
	return c
}

// result returns the objects that an answer may hold.
func (r *run) result(c Call) (all []objectVersion) {
	s := r.world.Store
	for _, name := range slices.Sorted(maps.Keys(s.jobs)) {
		if c.Verb == "status" || c.reads() {
			all = append(all, objectVersion{string(s.jobs[name].UID), s.jobs[name].ResourceVersion})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		if name == c.Object || c.Verb == "create pod" && name == fmt.Sprintf("%sp%d", c.Object, s.names) || c.Verb == verbList || c.Verb == verbListUnwatched {
			all = append(all, objectVersion{string(s.pods[name].UID), s.pods[name].ResourceVersion})
		}
	}
	return all
}

// outcome writes what the answer to a call depends on.
func (r *run) outcome(b beforeStep, result []objectVersion) string {
	if r.depth <= r.since {
		return ""
	}
	e := newEncoder(r)
	e.number(r.world.Store.version - b.version)
	for _, v := range result {
		e.text(v.uid)
		if pod := r.world.Store.byUID[types.UID(v.uid)]; pod != nil {
			e.value(reflect.ValueOf(pod))
			continue
		}
		for _, job := range r.world.Store.jobs {
			e.value(reflect.ValueOf(job))
		}
	}
	sum := e.sum()
	return string(sum[:])
}

// versionsIn returns the versions of objects in a process's cache.
func versionsIn(p *process) (all []objectVersion) {
	cache := reflect.ValueOf(p.cache).Elem()
	for _, table := range []string{"jobs", "pods"} {
		rows := cache.FieldByName(table).FieldByName("rows")
		for _, key := range rows.MapKeys() {
			all = append(all, objectVersion{key.String(), rows.MapIndex(key).Elem().FieldByName("version").String()})
		}
	}
	slices.SortFunc(all, func(a, b objectVersion) int { return strings.Compare(a.uid, b.uid) })
	return all
}
