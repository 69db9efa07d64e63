package prove

import (
	"cmp"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
)

// step is a possible next step: an event or a user's action.
type step struct {
	event *sim.Event
	user  *userStep
	// slow reports whether it lets time pass although messages are on their way, closes whether it closes a watch instead
	// of delivering the event.
	slow, closes bool
	rank         int
}

func (s step) String() string {
	if s.user != nil {
		return s.user.name
	}
	names := [...]string{"timer", "call", "watch", "late write", "node", "collector"}
	text := names[s.event.Kind()] + ": " + s.event.Text()
	if s.event.Kind() == sim.FromCall {
		text += " " + s.event.Call().Verb + " " + s.event.Call().Object
	}
	if s.event.Commit() != nil {
		text += ", " + checker.CommitText(*s.event.Commit())
	}
	return text
}

// ranks are in the order of preference in the default schedule.
const (
	rankMessage = iota
	rankLate
	rankNode
	rankUser
	rankTimer
	rankFault
)

// streamKey identifies a watch.
type streamKey struct {
	process  sim.Process
	resource string
}

// steps returns the possible next steps, preferred steps first, without steps that may as well be taken later.
func (r *run) steps() []step {
	all := r.allSteps()
	// If time may pass now, each step may also come after that.
	if r.plain || r.usedSlow < r.slow {
		return all
	}
	return reduced(r, all)
}

// allSteps returns all possible next steps, preferred steps first.
func (r *run) allSteps() []step {
	p := r.pendingEvents()
	all := p.steps
	for _, e := range p.watches {
		all = append(all, step{event: e, rank: rankMessage})
	}
	if r.acted < len(r.user) && r.user[r.acted].isPossible(r.world) {
		all = append(all, step{user: &r.user[r.acted], rank: rankUser})
	}
	if p.timer != nil && (!p.messages || r.usedSlow < r.slow) {
		all = append(all, step{event: p.timer, slow: p.messages, rank: rankTimer})
	}
	slices.SortFunc(all, compareSteps)
	return all
}

// pendingEvents holds the events of a world that can be next: events that can happen at any time, the next event of each
// watch, and the next timer. messages reports whether messages are on their way.
type pendingEvents struct {
	steps    []step
	watches  map[streamKey]*sim.Event
	timer    *sim.Event
	messages bool
}

func (r *run) pendingEvents() pendingEvents {
	p := pendingEvents{watches: map[streamKey]*sim.Event{}}
	for _, e := range r.world.Pending() {
		switch {
		case e.IsVoid():
		case e.Kind() == sim.FromWatch:
			p.messages = true
			if key := (streamKey{e.Process(), e.Text()}); p.watches[key] == nil || p.watches[key].Number() > e.Number() {
				p.watches[key] = e
			}
		case e.Kind() == sim.FromTimer && e.At().After(r.world.Now()):
			if p.timer == nil || compareTimers(e, p.timer) < 0 {
				p.timer = e
			}
		default:
			rank, known := ranks[e.Kind()]
			p.messages = p.messages || !known
			p.steps = append(p.steps, step{event: e, rank: rank})
		}
	}
	return p
}

// ranks holds the ranks of events that are not messages.
var ranks = map[sim.EventKind]int{sim.FromLateWrite: rankLate, sim.FromNode: rankNode, sim.FromCollector: rankNode}

func compareTimers(a, b *sim.Event) int {
	return cmp.Or(a.At().Compare(b.At()), cmp.Compare(a.Number(), b.Number()))
}

func (u *userStep) isPossible(w *checker.World) bool { return u.when == nil || u.when(w) }

// compareSteps orders steps by preference in the default schedule. There is at most one user step.
func compareSteps(a, b step) int {
	if a.rank != b.rank || a.event == nil || b.event == nil {
		return a.rank - b.rank
	}
	return cmp.Compare(a.event.Number(), b.event.Number())
}
