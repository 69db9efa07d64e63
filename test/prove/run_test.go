package prove

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/scenario"
)

// smallWorld is a world of which every history is tried, unless it is vast.
type smallWorld struct {
	name        string
	spec        func() batchv1.JobSpec
	annotations map[string]string
	// short worlds are explored by every test run.
	short bool
	size  worldSize
	// exits are the exit codes that a pod may end with by itself; at most failures pods end
	// with other codes than the first. terminated are those of pods that are being deleted.
	exits, terminated []int32
	failures          int
	// inTurn has the pods end with one exit code after the other, in the order in which they end.
	inTurn bool
	// runs lets pods run before they end, so that they are Ready meanwhile; with forever, they
	// do not end. The nodes that are lost do not end pods that are being deleted.
	runs, forever, lost bool
	// user is what users and administrators do, in this order, at any time.
	user []userStep
	// shared reports whether users start other controller processes.
	shared bool
	// faults are the kinds of faults of API calls, gaps adds those of watches. A history has
	// at most maxFaults of them. stale lets the successor of a process that crashed begin with
	// lists that lack the last write. With unseen, faults are those after which the controller does not know
	// of a pod that it created, otherwise all others.
	faults      []sim.FaultKind
	gaps, stale bool
	unseen      bool
	maxFaults   int
	// records is how many pods one status records, if not 0.
	records int
	// slow is how often time may pass although messages are on their way.
	slow int
	// wrong returns what is wrong with the Job at the end, or "". Without it, the Job has to be
	// finished or gone.
	wrong func(job *batchv1.Job) string
	// wrongUnseen, if set, does so after an unseen creation: a pod that the controller does not know of may fail, too.
	wrongUnseen func(job *batchv1.Job) string
	// symmetric is how many pods may have each other's names: no decision depends on their names.
	symmetric int
	// plain takes steps one by one that may as well be taken at once, or later. exact keeps apart
	// what differs only in how old it is, or which pod is which.
	plain, exact bool
}

// worldSize is how many states a world has without faults, in orders of magnitude. A fault makes it 30 to 130
// times as large, and more where pods are symmetric without one; an unseen creation up to 1,000 times.
type worldSize int

const (
	// medium worlds have up to some 10,000, and are explored with faults, too.
	medium worldSize = iota
	// tiny worlds have up to 1,000, and are explored with unseen creations as well.
	tiny
	// large worlds have more, and no faults.
	large
	// vast worlds have many millions: no search of them has ended. They are explored only by name.
	vast
)

// most returns how many states a world of a size has at most.
func (s worldSize) most() int {
	return map[worldSize]int{tiny: 1_000, medium: 20_000, large: math.MaxInt, vast: math.MaxInt}[s]
}

type userStep struct {
	name string
	do   func(*checker.World)
	// when, if set, reports whether it is possible.
	when func(*checker.World) bool
}

// stepTime is how long each step takes, so that no two things happen at the same time.
const stepTime = time.Microsecond

// run is one history of a small world: it decides what happens next from a list of choices.
type run struct {
	*smallWorld
	world *checker.World
	// choices are those of the present step, as far as they are given; taken are all that were
	// needed, and options how many there were. rng, if set, makes the others; one in rare of them
	// is not the first.
	choices, taken, options []uint8
	rng                     *rand.Rand
	rare                    int
	// lenient takes the first choice where a given one is not possible.
	lenient bool
	// usedFaults, usedSlow, failed and acted count faults, slow messages, failed pods (inTurn: all that have ended) and steps
	// of users.
	usedFaults, usedSlow, failed, acted int
	// going is the process that took a local step and continues before others may act, or nil.
	going sim.Process
	// depth is the number of steps so far.
	depth int
	// carriers are what has read something and not yet finished: routines, and late writes by
	// the number of their event.
	carriers map[any]*carrier
	// since is the depth from which on carriers are hashed.
	since int
	// work is what a stage that a sync has planned in the present step is about to do, if there is one.
	work any
	// echoing is set while nothing goes wrong with watches, closing while the present step ends
	// one.
	echoing, closing bool
	// hashing reports whether the present step is hashed.
	hashing bool
	// encoded are objects that were written into a state; buffer is reused.
	encoded map[objectKey]*encodedObject
	buffer  []byte
	// renamings are all ways to name the pods.
	renamings []renaming
}

func newRun(s *smallWorld, since int) *run {
	r := &run{smallWorld: s, since: since, carriers: map[any]*carrier{}, encoded: map[objectKey]*encodedObject{}, renamings: renamings(s.symmetric)}
	o := sim.Options{Decider: r, OnWork: func(work any) { r.work = work }, Begun: time.Date(2026, 1, 1, 0, 0, 0, int(100*time.Millisecond), time.UTC)}
	if s.records > 0 {
		o.Controller.Limits = reconcile.DefaultConfig()
		o.Controller.Limits.MaxUncounted = s.records
	}
	r.world = checker.NewWorldWith(checker.Checks{Untraced: true, CoreEvery: 1 << 30}, o)
	r.world.Checker.Exact = true
	act := sim.Act{TerminateExit: 143, NodeGone: s.lost}
	if s.runs {
		act.Run = time.Second
	}
	if s.forever {
		act.Run = sim.Forever
	}
	job := &batchv1.Job{Spec: s.spec()}
	job.Name, job.Annotations = "a", s.annotations
	scenario.Must(r.world.Play(job, sim.Script{{Index: -1, Act: act}}))
	return r
}

// abandon ends a world that is no longer needed.
func (r *run) abandon() { r.world.Abandon() }

// choose returns the next choice of n: a given one, or else mostly the first.
func (r *run) choose(n int) int {
	choice := uint8(0)
	if at := len(r.taken); at < len(r.choices) {
		choice = r.choices[at]
	} else if r.rng != nil && r.rng.IntN(r.rare) == 0 {
		choice = uint8(r.rng.IntN(n))
	}
	switch {
	case int(choice) < n:
	case r.lenient:
		choice = 0
	default:
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

// take lets one of the steps happen, with choices for it.
func (r *run) take(steps []step, choices []uint8) {
	r.choices, r.taken, r.options = choices, r.taken[:0], r.options[:0]
	s := steps[r.choose(len(steps))]
	r.hashing = r.depth >= r.since
	before, local := r.beforeStep(s), localProcess(s)
	if s.user != nil {
		r.world.Advance(r.world.Now().Add(stepTime))
		r.acted++
		s.user.do(r.world)
	} else {
		r.happen(s)
	}
	r.world.DropVoid()
	if !r.plain {
		r.deliverEchoes()
	}
	r.depth++
	r.afterStep(before)
	r.going = goingOn(r, local)
}

func (r *run) happen(s step) {
	at := r.world.Now().Add(stepTime)
	if s.rank == rankTimer && s.event.At().After(at) {
		at = s.event.At()
		if s.slow {
			r.usedSlow++
			c := r.world.Checker
			c.Extend(&c.Late, at.Add(stepTime))
		}
	}
	r.closing = s.closes
	r.world.Do(s.event, at)
	r.closing = false
}

// deliverEchoes delivers what is no news to a process: its own writes, whose answers came first.
// That changes nothing but how far the watch is.
func (r *run) deliverEchoes() {
	r.echoing = true
	defer func() { r.echoing = false }()
	for e := r.echo(); e != nil; e = r.echo() {
		r.happen(step{event: e, rank: rankMessage})
	}
}

// echo returns the next event of a watch that is no news to its process, or nil.
func (r *run) echo() (first *sim.Event) {
	for _, e := range r.pendingEvents().watches {
		if e.Commit() != nil && (first == nil || e.Number() < first.Number()) && isEcho(e.Process(), *e.Commit()) {
			first = e
		}
	}
	return first
}

// isEcho reports whether a process's cache has what a watch is about to deliver.
func isEcho(p sim.Process, c sim.Commit) bool {
	known := ""
	switch {
	case c.NewJob != nil:
		known = versionIn(p, jobsOnly, c.NewJob.UID)
	case c.NewPod != nil && sim.Watches(c.NewPod):
		known = versionIn(p, podsOnly, c.NewPod.UID)
	}
	return versionOf(known) >= c.Version
}
