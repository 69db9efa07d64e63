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
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// smallWorld is a world whose histories are all explored, unless it is vast.
type smallWorld struct {
	name        string
	spec        batchv1.JobSpec
	annotations map[string]string
	// short worlds are explored by every test run.
	short bool
	size  worldSize
	// exits are the exit codes with which a pod may end by itself; at most failures pods end with a code other than the
	// first. terminated are the exit codes of pods that are being deleted.
	exits, terminated []int32
	failures          int
	// inTurn makes pods end with one exit code after the other, in the order in which they end.
	inTurn bool
	// runs lets pods run before they end, so that they are Ready meanwhile; with forever, they do not end. With lost,
	// nodes do not end pods that are being deleted.
	runs, forever, lost bool
	// user holds the actions of users and administrators, which happen in this order, at any time.
	user []userStep
	// shared reports whether users start other controller processes.
	shared bool
	// faults holds the kinds of faults of API calls, gaps adds faults of watches. A history has at most maxFaults of
	// them. stale makes the successor of a crashed process begin with lists that lack the last write. With unseen, only
	// faults occur after which the controller does not know of a pod that it created, otherwise only the other faults.
	faults      []sim.FaultKind
	gaps, stale bool
	unseen      bool
	maxFaults   int
	// records is the number of pods that one status may record, if not 0.
	records int
	// slow is how often time may pass although messages are on their way.
	slow int
	// wrong describes what is wrong with the Job at the end, or returns "". Without it, the Job must be finished or gone.
	wrong func(job *batchv1.Job) string
	// wrongUnseen, if set, replaces wrong after an unseen creation: a pod that the controller does not know of may fail,
	// too.
	wrongUnseen func(job *batchv1.Job) string
	// symmetric is the number of pods whose names are interchangeable: no decision depends on them.
	symmetric int
	// plain disables reductions. exact distinguishes states that differ only in ages, or in the names of pods.
	plain, exact bool
}

// worldSize is the order of magnitude of a world's number of states without faults. A fault multiplies it by 30 to 130,
// and by more if pods are symmetric without it; an unseen creation by up to 1,000.
type worldSize int

const (
	// medium worlds have some 10,000 states, and are also explored with faults.
	medium worldSize = iota
	// tiny worlds have up to 1,000 states, and are also explored with unseen creations.
	tiny
	// large worlds have more states, and are explored without faults.
	large
	// vast worlds have many millions of states: no search of them has completed. They are explored only by name.
	vast
)

// most returns the largest permitted number of states of a world of a size.
func (s worldSize) most() int {
	return map[worldSize]int{tiny: 1_000, medium: 20_000, large: math.MaxInt, vast: math.MaxInt}[s]
}

type userStep struct {
	name string
	do   func(*checker.World)
	// when, if set, reports whether the step is possible.
	when func(*checker.World) bool
}

// stepTime is the duration of each step, so that no two events have the same time.
const stepTime = time.Microsecond

// run is one history of a small world: it makes decisions from a list of choices.
type run struct {
	*smallWorld
	world *checker.World
	// choices holds the given choices of the present step; taken holds all choices made, and options the number of
	// alternatives. rng, if set, makes the other choices; one in rare of them is not the first alternative.
	choices, taken, options []uint8
	rng                     *rand.Rand
	rare                    int
	// lenient takes the first alternative if a given choice is not possible.
	lenient bool
	// usedFaults, usedSlow, failed and acted count faults, slow messages, failed pods (with inTurn: all ended pods) and
	// user steps.
	usedFaults, usedSlow, failed, acted int
	// going is the process that took a local step and continues before others may act, if any.
	going sim.Process
	// depth is the number of steps so far.
	depth int
	// carriers holds the carriers that have not finished: coroutines, and late writes by the number of their event.
	carriers map[any]*carrier
	// since is the depth from which on carriers are hashed.
	since int
	// work is the work of a stage that was planned in the present step, or nil.
	work any
	// echoing is set while watches have no faults, closing while the present step closes a watch.
	echoing, closing bool
	// hashing reports whether the present step is hashed.
	hashing bool
	// encoded holds the objects that were encoded for a state; buffer is reused.
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
	job := &batchv1.Job{Spec: *s.spec.DeepCopy()}
	job.Name, job.Annotations = "a", s.annotations
	scenario.Must(r.world.Play(job, sim.Script{{Index: -1, Act: act}}))
	return r
}

// abandon ends a world that is no longer needed.
func (r *run) abandon() { r.world.Abandon() }

// choose returns the next choice out of n: a given one, or else usually the first.
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

// nextChoices returns the choices after those of the last step, or nil after the last.
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

// take carries out one of the steps, with choices for it.
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

// deliverEchoes delivers events that a process already knows: its own writes, whose responses came first. This changes
// only the position of the watch.
func (r *run) deliverEchoes() {
	r.echoing = true
	defer func() { r.echoing = false }()
	for e := r.echo(); e != nil; e = r.echo() {
		r.happen(step{event: e, rank: rankMessage})
	}
}

// echo returns the next watch event that its process already knows, or nil.
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
