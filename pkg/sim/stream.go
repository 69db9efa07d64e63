package sim

import (
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// stream is one watch: events arrive late, and in order.
type stream struct {
	process  *process
	resource resource
	store    observe.Store
	// connection is the number of the connection; events in flight of an earlier connection are lost. open reports
	// whether the connection is open.
	connection int
	open       bool
	// last is when the last event arrives, seen is the version up to which all events have arrived.
	last time.Time
	seen int64
	// lists are the lists that the watch processed.
	lists []listing
}

// listing is a list: it shows the state at version, and no events between before, the version seen until then, and
// version.
type listing struct{ before, version int64 }

type resource bool

const (
	jobsOnly resource = true
	podsOnly resource = false
)

func (r resource) String() string {
	if r == jobsOnly {
		return "Jobs"
	}
	return "pods"
}

// WatchFault is a fault of a watch when an event is about to arrive; the zero WatchFault is no fault.
type WatchFault struct {
	// Twice delivers the event twice.
	Twice bool
	// Closed closes the watch before the event, and returns 410 for every attempt to resume it: after Gap, there is a
	// new list, which shows the state before the duration Older.
	Closed     bool
	Gap, Older time.Duration
}

// lag returns the longest delay of an event.
func (p *process) lag() time.Duration {
	if p.Lag > 0 {
		return p.Lag
	}
	return p.world.Lag
}

// deliver sends a commit if the watch is open; otherwise a later list will show it.
func (s *stream) deliver(c Commit) {
	if c.isWatched() && s.open && c.resource() == s.resource && s.process.isWorking() {
		s.send(c)
	}
}

func (s *stream) send(c Commit) {
	w := s.process.world
	at := w.Now().Add(w.random(s.process.lag()))
	if !at.After(s.last) {
		at = s.last.Add(1)
	}
	s.last = at
	void := s.lost()
	w.schedule(origin{kind: FromWatch, process: s.process, text: s.resource.String(), commit: &c, void: void}, at.Sub(w.Now()), func() {
		if !void() {
			s.arrive(c)
		}
	})
}

// lost returns a function that reports whether the present connection has been closed since.
func (s *stream) lost() func() bool {
	connection := s.connection
	return func() bool { return !s.process.alive || s.connection != connection }
}

func (s *stream) arrive(c Commit) {
	var fault WatchFault
	if w := s.process.world; w.WatchFault != nil {
		fault = w.WatchFault()
	}
	if d := s.process.world.Decider; d != nil {
		fault = d.WatchFault()
	}
	if fault.Closed {
		s.relist(fault.Gap, fault.Older)
		return
	}
	s.take(c)
	if fault.Twice {
		s.take(c)
	}
}

// take passes an event to the cache, like the reflector.
func (s *stream) take(c Commit) {
	version := strconv.FormatInt(c.Version, 10)
	s.seen = c.Version
	switch {
	case c.NewJob != nil:
		must(s.store.Update(c.NewJob))
	case c.OldJob != nil:
		last := c.OldJob.DeepCopy()
		last.ResourceVersion = version
		must(s.store.Delete(last))
	case c.NewPod != nil:
		must(s.store.Update(c.NewPod))
	default:
		last := *c.OldPod
		last.ResourceVersion = version
		must(s.store.Delete(&last))
	}
}

// relist closes the watch, and reopens it after gap, with a complete list of the state before the duration older: the
// changes in the meantime are seen as one, or not at all.
func (s *stream) relist(gap, older time.Duration) {
	w := s.process.world
	s.connection++
	s.open = false
	void := s.lost()
	w.notify(WatchesBlind{w.Now().Add(gap + s.process.lag())})
	w.schedule(origin{kind: FromWatch, process: s.process, text: "list " + s.resource.String(), void: void}, gap, func() {
		switch {
		case void():
		case w.isAway():
			s.relist(w.awayUntil.Sub(w.Now()), older)
		default:
			s.answer(versionAt(w, w.Now().Add(-older)))
		}
	})
}

// answer delivers the list: its state is older by the time it arrives.
func (s *stream) answer(version int64) {
	w := s.process.world
	// A list is never older than the version that the client has seen, which its request contains.
	version = max(version, s.seen)
	void := s.lost()
	w.schedule(origin{kind: FromWatch, process: s.process, text: "list of " + s.resource.String(), version: version, void: void}, w.random(s.process.lag()), func() {
		if !void() {
			w.tracef("%s are listed, %v old%s", s.resource, age(w, version), w.signature(s.process.number))
			s.replace(version)
		}
	})
}

// list makes the first list of a watch.
func (s *stream) list(older time.Duration) {
	w := s.process.world
	s.connection++
	s.replace(versionAt(w, w.Now().Add(-older)))
}

// isWorking reports whether the namespace of the world belongs to the process's shard.
func (p *process) isWorking() bool { return p.Shard.Contains(Namespace) }

// listed returns the objects in a list of the process's shard.
func (s *stream) listed(version int64) []any {
	if !s.process.isWorking() {
		return nil
	}
	return slices.DeleteFunc(listAt(s.process.world, version, s.resource), func(object any) bool {
		pod, is := object.(*corev1.Pod)
		return is && !watches(pod)
	})
}

// replace processes a complete list, and then the events since its version.
func (s *stream) replace(version int64) {
	w := s.process.world
	must(s.store.Replace(s.listed(version), strconv.FormatInt(version, 10)))
	s.lists = append(s.lists, listing{s.seen, version})
	s.seen, s.open = version, true
	for _, c := range w.journal.Since(version) {
		s.deliver(c)
	}
}
