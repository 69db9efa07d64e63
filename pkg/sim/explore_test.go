package sim

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// smallWorld is a world of which every history is tried.
type smallWorld struct {
	name        string
	spec        func() batchv1.JobSpec
	annotations map[string]string
	// short worlds are explored by every test run.
	short bool
	// exits are the exit codes that a pod may end with by itself; at most failures pods end
	// with other codes than the first. terminated are those of pods that are being deleted.
	exits, terminated []int32
	failures          int
	// runs lets pods run before they end, so that they are Ready meanwhile; with forever, they
	// do not end.
	runs, forever bool
	// user is what users and administrators do, in this order, at any time.
	user []userStep
	// faults are the kinds of faults of API calls, gaps adds those of watches. A history has
	// at most maxFaults of them. stale lets the successor of a process that crashed begin with
	// lists that lack the last write.
	faults      []FaultKind
	gaps, stale bool
	maxFaults   int
	// slow is how often time may pass although messages are on their way.
	slow int
	// wrong returns what is wrong with the Job at the end, or "". Without it, the Job has to be
	// finished or gone.
	wrong func(job *batchv1.Job) string
	// plain takes steps one by one that may as well be taken at once.
	plain bool
}

type userStep struct {
	name string
	do   func(*World)
	// when, if set, reports whether it is possible.
	when func(*World) bool
}

// stepTime is how long each step takes, so that no two things happen at the same time.
const stepTime = time.Microsecond

// run is one history of a small world: it decides what happens next from a list of choices.
type run struct {
	*smallWorld
	world *World
	// choices are those of the present step, as far as they are given; taken are all that were
	// needed, and options how many there were. rng, if set, makes the others.
	choices, taken, options []uint8
	rng                     *rand.Rand
	// usedFaults, usedSlow, failed and acted count faults, slow messages, failed pods and steps
	// of users.
	usedFaults, usedSlow, failed, acted int
	// depth is the number of steps so far.
	depth int
	// carriers are what has read something and not yet finished: routines, and late writes by
	// the number of their event.
	carriers map[any]*carrier
	// since is the depth from which on carriers are hashed.
	since int
	// planned reports whether a sync has planned a stage in the present step.
	planned bool
	// echoing is set while nothing goes wrong with watches.
	echoing bool
	// encoded are objects that were written into a state, by their address, which keeps them.
	encoded map[unsafe.Pointer]*encodedObject
}

func newRun(s *smallWorld, since int) *run {
	r := &run{smallWorld: s, since: since, carriers: map[any]*carrier{}, encoded: map[unsafe.Pointer]*encodedObject{}}
	r.world = newCheckedBy(checks{noTrace: true, coreEvery: 1 << 30}, Options{decider: r, Begun: time.Date(2026, 1, 1, 0, 0, 0, int(100*time.Millisecond), time.UTC)})
	r.world.checker().exact = r.unknownSince
	r.world.ctx = klog.NewContext(context.Background(), logr.New(planSink{planned: func() { r.planned = true }}))
	act := Act{TerminateExit: 143}
	if s.runs {
		act.Run = time.Second
	}
	if s.forever {
		act.Run = Forever
	}
	job := &batchv1.Job{Spec: s.spec()}
	job.Name, job.Annotations = "a", s.annotations
	must(r.world.Play(job, Script{{Index: -1, Act: act}}))
	return r
}

// abandon ends the routines of a world that is no longer needed.
func (r *run) abandon() {
	for _, p := range r.world.processes {
		p.alive = false
	}
	for i := range r.world.events {
		if e := &r.world.events[i]; e.kind == fromCall {
			e.routine.stop()
		}
	}
}

// choose returns the next choice of n: a given one, or else mostly the first.
func (r *run) choose(n int) int {
	choice := uint8(0)
	if at := len(r.taken); at < len(r.choices) {
		choice = r.choices[at]
	} else if r.rng != nil && r.rng.IntN(4) == 0 {
		choice = uint8(r.rng.IntN(n))
	}
	if int(choice) >= n {
		panic(fmt.Sprintf("choice %d of %d", choice, n))
	}
	r.taken, r.options = append(r.taken, choice), append(r.options, uint8(n))
	return int(choice)
}

// nextChoices returns the choices that follow those of the last step, or nil after the last.
func (r *run) nextChoices() []uint8 {
	for at := len(r.taken) - 1; at > 0; at-- {
		if r.taken[at]+1 < r.options[at] {
			next := slices.Clone(r.taken[:at+1])
			next[at]++
			return next
		}
	}
	return nil
}

// step is what can happen next: an event, or what a user does.
type step struct {
	event *event
	user  *userStep
	// slow reports whether it lets time pass although messages are on their way.
	slow bool
	rank int
}

func (s step) String() string {
	if s.user != nil {
		return s.user.name
	}
	names := [...]string{"timer", "call", "watch", "late write", "node", "collector", "sweep"}
	text := names[s.event.kind] + ": " + s.event.text
	if s.event.kind == fromCall {
		text += " " + s.event.call.Verb + " " + s.event.call.Object
	}
	if s.event.commit != nil {
		text += ", " + commitText(*s.event.commit)
	}
	return text
}

// ranks is the order in which a default schedule prefers steps.
const (
	rankMessage = iota
	rankLate
	rankNode
	rankUser
	rankTimer
)

// streamKey identifies a watch.
type streamKey struct {
	process  *process
	resource string
}

// steps returns what can happen next, preferred steps first.
func (r *run) steps() []step {
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

// pendingEvents are the events of a world: those that can happen at any time, the next one of each
// watch, and the next one that time has to pass for. messages reports whether any are on their
// way.
type pendingEvents struct {
	steps    []step
	watches  map[streamKey]*event
	timer    *event
	messages bool
}

func (r *run) pendingEvents() pendingEvents {
	p := pendingEvents{watches: map[streamKey]*event{}}
	for i := range r.world.events {
		e := &r.world.events[i]
		switch {
		case e.void != nil && e.void() || e.kind == fromSweep:
		case e.kind == fromWatch:
			p.messages = true
			if key := (streamKey{e.process, e.text}); p.watches[key] == nil || p.watches[key].number > e.number {
				p.watches[key] = e
			}
		case e.kind == fromTimer && e.at.After(r.world.Now()):
			if p.timer == nil || compareTimers(e, p.timer) < 0 {
				p.timer = e
			}
		default:
			rank, known := ranks[e.kind]
			p.messages = p.messages || !known
			p.steps = append(p.steps, step{event: e, rank: rank})
		}
	}
	return p
}

// ranks are those of events that are no messages.
var ranks = map[originKind]int{fromLateWrite: rankLate, fromNode: rankNode, fromCollector: rankNode}

func compareTimers(a, b *event) int {
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.number, b.number))
}

func (u *userStep) isPossible(w *World) bool { return u.when == nil || u.when(w) }

// compareSteps orders steps as a default schedule prefers them. There is one of a user at most.
func compareSteps(a, b step) int {
	if a.rank != b.rank || a.event == nil || b.event == nil {
		return a.rank - b.rank
	}
	return cmp.Compare(a.event.number, b.event.number)
}

// take lets one of the steps happen, with choices for it.
func (r *run) take(steps []step, choices []uint8) {
	r.choices, r.taken, r.options = choices, r.taken[:0], r.options[:0]
	s := steps[r.choose(len(steps))]
	before := r.beforeStep(s)
	if s.user != nil {
		r.world.advance(r.world.Now().Add(stepTime))
		r.acted++
		s.user.do(r.world)
	} else {
		r.happen(s)
	}
	r.endDead()
	if !r.plain {
		r.deliverEchoes()
	}
	r.depth++
	r.afterStep(before)
}

func (r *run) happen(s step) {
	at := r.world.Now().Add(stepTime)
	if s.rank == rankTimer && s.event.at.After(at) {
		at = s.event.at
		if s.slow {
			r.usedSlow++
			r.world.checker().late = at.Add(stepTime)
		}
	}
	do := s.event.do
	for i := range r.world.events {
		if &r.world.events[i] == s.event {
			heap.Remove(&r.world.events, i)
			break
		}
	}
	r.world.advance(at)
	do()
}

// endDead lets the syncs of processes that ended come to their end: nothing happens in them.
func (r *run) endDead() {
	r.world.events = slices.DeleteFunc(r.world.events, func(e event) bool {
		dead := e.kind == fromCall && !e.process.alive
		if dead {
			e.routine.resume()
		}
		return dead || e.void != nil && e.void()
	})
	heap.Init(&r.world.events)
}

// deliverEchoes delivers what is no news to a process: its own writes, whose answers came first.
// That changes nothing but how far the watch is.
func (r *run) deliverEchoes() {
	r.echoing = true
	defer func() { r.echoing = false }()
	for again := true; again; {
		again = false
		for _, s := range r.steps() {
			if e := s.event; e != nil && e.kind == fromWatch && e.commit != nil && isEcho(e.process, *e.commit) {
				r.happen(s)
				again = true
				break
			}
		}
	}
}

// isEcho reports whether a process's cache has what a watch is about to deliver.
func isEcho(p *process, c Commit) bool {
	uid := types.UID("")
	switch {
	case c.NewJob != nil:
		uid = c.NewJob.UID
	case c.NewPod != nil && p.watches(c.NewPod):
		uid = c.NewPod.UID
	}
	for _, v := range versionsIn(p) {
		if known, _ := strconv.ParseInt(v.version, 10, 64); v.uid == string(uid) && known >= c.Version {
			return true
		}
	}
	return false
}

// fault implements decider.
func (r *run) fault(c Call) Fault {
	if r.usedFaults == r.maxFaults {
		return Fault{}
	}
	kinds := slices.DeleteFunc(slices.Clone(r.faults), func(k FaultKind) bool {
		return c.reads() && k != CrashBefore && k != LoseResponse
	})
	choice := r.choose(len(kinds) + 1)
	if choice == 0 {
		return Fault{}
	}
	r.usedFaults++
	r.world.tracef("— %s", faultText(kinds[choice-1]))
	r.world.notify(callFailed{})
	if slices.Contains(crashes, kinds[choice-1]) && r.stale {
		r.world.Successor = []ProcessOptions{{}, {JobsOlder: 1}, {JobsOlder: 1, PodsOlder: 1}}[r.choose(3)]
	}
	return Fault{Kind: kinds[choice-1]}
}

// faultText is the name of a kind in scenarios.
func faultText(kind FaultKind) string {
	for text, k := range faultKinds {
		if k == kind {
			return text
		}
	}
	return kind.String()
}

// watchFault implements decider: a watch is closed, and a new list shows what has happened
// since.
func (r *run) watchFault(*stream) WatchFault {
	if r.echoing || !r.gaps || r.usedFaults == r.maxFaults || r.choose(2) == 0 {
		return WatchFault{}
	}
	r.usedFaults++
	r.world.tracef("— the watch is closed")
	return WatchFault{Closed: true}
}

// order implements decider.
func (r *run) order(n int) (order []int) {
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	for len(left) > 1 {
		i := r.choose(len(left))
		order, left = append(order, left[i]), slices.Delete(left, i, i+1)
	}
	return append(order, left...)
}

// end implements decider.
func (r *run) end(_ *corev1.Pod, act *Act, terminated bool) *Act {
	exits := r.exits
	if terminated {
		exits = r.terminated
	}
	n := len(exits)
	if !terminated && r.failed >= r.failures {
		n = min(n, 1)
	}
	if n == 0 {
		return act
	}
	out, choice := *act, 0
	if n > 1 {
		choice = r.choose(n)
	}
	if out.Exit = exits[choice]; terminated {
		out.Exit, out.TerminateExit = act.Exit, exits[choice]
	} else if choice > 0 {
		r.failed++
	}
	return &out
}

// unknownSince returns the first moment of which some process may not know.
func (r *run) unknownSince() time.Time {
	at := r.world.Now().Add(1)
	for _, known := range r.horizons() {
		if known.Before(at) {
			at = known
		}
	}
	return at
}

// horizons returns from when on each watch has not delivered what was stored, and when each
// sync that is running may not have known.
func (r *run) horizons() (all []time.Time) {
	for _, p := range r.world.processes {
		if !p.isWorking() {
			continue
		}
		for _, s := range []*stream{p.jobs, p.pods} {
			all = append(all, r.undelivered(s))
		}
	}
	for key, c := range r.carriers {
		if _, late := key.(uint64); late || c.begun.process.alive {
			all = append(all, c.begun.unknown)
		}
	}
	return all
}

// pendingSince returns the times of all commits that a watch has not delivered.
func (r *run) pendingSince() (all []time.Time) {
	for i := range r.world.events {
		if e := &r.world.events[i]; e.kind == fromWatch && e.commit != nil && !e.void() && !r.knowsOwn(e.process, *e.commit) {
			j := &r.world.journal
			all = append(all, j.at[len(j.commits)-len(r.world.since(e.commit.Version-1))])
		}
	}
	return all
}

// knowsOwn reports whether a process knows of a commit because it made it: each call had an
// answer, unless there was a fault. (As long as the answer is on its way, the sync began before.)
func (r *run) knowsOwn(p *process, c Commit) bool { return r.usedFaults == 0 && c.By == p.number }

// undelivered returns when the first commit was made that a watch has not delivered.
func (r *run) undelivered(s *stream) time.Time {
	if missed, at := s.missed(s.seen, r.usedFaults == 0); missed {
		return at
	}
	return r.world.Now().Add(1)
}
