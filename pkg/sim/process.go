package sim

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// process is a controller process: the real Engine and Dispatcher, with a cache filled by watches, and a queue in
// virtual time.
type process struct {
	world *World
	// number identifies the process in its world, from 1 in the order of their start.
	number     int
	alive      bool
	engine     *controller.Engine
	cache      *observe.Cache
	dispatcher *controller.Dispatcher
	clock      *skewedClock
	// grain is the precision of the process's times; 0 for exact times.
	grain      time.Duration
	jobs, pods *stream
	// features are the features that the process was started with.
	features reconcile.Features
	ProcessOptions

	due     map[types.UID]uint64
	dueAt   map[types.UID]time.Time
	tickets uint64
	retries map[types.UID]int
	running map[types.UID]bool
	again   map[types.UID]bool
	// lists is the last pod list of the process.
	lists podList
	// waiting are Jobs that are due, but have no free worker.
	waiting []types.UID
	// nextCall is the time at which the rate limit allows the next call.
	nextCall time.Time
}

// ProcessOptions configure one controller process.
type ProcessOptions struct {
	// Lag is the longest delay of a watch event; 0 for the World's Lag.
	Lag time.Duration
	// Clock is the time by which the process's clock is ahead.
	Clock time.Duration
	// JobsOlder and PodsOlder are the ages of the first lists. The Runtime lists pods after Jobs, both with quorum
	// reads: pods must not be older.
	JobsOlder, PodsOlder time.Duration
	// Shard limits the process to the namespaces of a shard.
	Shard shard.Range
}

func newProcess(w *World, o ProcessOptions) *process {
	w.started = append(w.started, w.Now().Add(-max(o.JobsOlder, o.PodsOlder)))
	p := &process{
		world: w, number: len(w.started), alive: true, features: w.Controller.Limits.Features, ProcessOptions: o,
		due: map[types.UID]uint64{}, dueAt: map[types.UID]time.Time{}, retries: map[types.UID]int{},
		running: map[types.UID]bool{}, again: map[types.UID]bool{},
	}
	config := w.Controller
	if w.Decider != nil {
		p.grain = w.Decider.Grain()
	}
	config.Clock = &skewedClock{FakeClock: w.clock, ahead: []offset{{at: w.begun}}, grain: p.grain}
	var cache *observe.Cache
	p.dispatcher, cache = controller.NewDispatcher(config, p)
	p.clock = &skewedClock{FakeClock: w.clock, ahead: []offset{{at: w.begun, by: w.skew + o.Clock}}, grain: p.grain}
	config.Clock, config.Shard = p.clock, o.Shard
	api := cluster.Cluster{Jobs: jobAPI{p}, Pods: podAPI{p}, List: p, Parallel: p.parallel}
	p.engine, p.cache = controller.NewEngine(config, cache, api), cache
	p.dispatcher.OnOwnJob(p.engine.Own)
	p.dispatcher.OnPodEnded(p.engine.PodEnded)
	p.dispatcher.OnReleased(p.engine.Released)
	p.jobs = &stream{process: p, resource: jobsOnly, store: cache.JobStore("")}
	p.pods = &stream{process: p, resource: podsOnly, store: cache.PodStore("")}
	p.list()
	return p
}

// list makes the first lists of both watches, Jobs before pods as in the Runtime. It waits until the API server is
// reachable.
func (p *process) list() {
	if p.world.isAway() {
		p.world.After(p.world.awayUntil.Sub(p.world.Now()), p.list)
		return
	}
	if !p.alive {
		return
	}
	p.jobs.list(p.JobsOlder)
	known := p.jobs.listed(p.jobs.seen)
	p.pods.list(p.PodsOlder)
	for _, job := range known {
		p.engine.Trust(job.(*batchv1.Job))
	}
}

// watches reports whether a controller's watch delivers the pod.
func watches(pod *corev1.Pod) bool { return pod.Spec.RestartPolicy != corev1.RestartPolicyAlways }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// AddAfter implements controller.Queue.
func (p *process) AddAfter(job types.UID, wait time.Duration) {
	at := p.world.Now().Truncate(p.grain).Add(wait)
	if _, waiting := p.due[job]; waiting && !at.Before(p.dueAt[job]) {
		return
	}
	p.tickets++
	ticket := p.tickets
	p.due[job], p.dueAt[job] = ticket, at
	void := func() bool { return !p.alive || p.due[job] != ticket }
	p.world.schedule(origin{process: p, text: "sync", void: void}, at.Sub(p.world.Now()), func() {
		if !void() {
			delete(p.due, job)
			p.sync(job)
		}
	})
}

// AddRateLimited implements controller.Queue. It waits 1 s, 2 s, 4 s … 60 s.
func (p *process) AddRateLimited(job types.UID) {
	wait := min(time.Second<<min(p.retries[job], 6), time.Minute)
	p.retries[job]++
	p.AddAfter(job, wait)
}

// Forget implements controller.Queue.
func (p *process) Forget(job types.UID) { delete(p.retries, job) }

func (p *process) sync(job types.UID) {
	if p.running[job] {
		p.again[job] = true
		return
	}
	if w := p.world.Workers; w > 0 && len(p.running) >= w {
		if !slices.Contains(p.waiting, job) {
			p.waiting = append(p.waiting, job)
		}
		return
	}
	p.start(job)
}

func (p *process) start(job types.UID) {
	p.running[job] = true
	begin(p.world, p, func() { p.syncNow(job) })
}

func (p *process) syncNow(job types.UID) {
	defer p.recoverCrash()
	plans(p.world)
	begun := p.world.Now()
	result, err := p.engine.Sync(p.world.ctx, job)
	delete(p.running, job)
	if !p.alive {
		return
	}
	if len(p.waiting) > 0 {
		// The worker starts the next Job, as from a queue, even if others are due at this time.
		next := p.waiting[0]
		p.waiting, p.running[next] = p.waiting[1:], true
		p.world.After(0, func() {
			if p.alive {
				p.start(next)
			}
		})
	}
	if p.world.OnSync != nil {
		p.world.OnSync(p.world.Now().Sub(begun))
	}
	if err != nil {
		p.world.tracef("sync of %s failed: %v", job, err)
		p.world.notify(CallFailed{})
	}
	p.dispatcher.Synced(job, result, err)
	if p.again[job] {
		delete(p.again, job)
		p.AddAfter(job, 0)
	}
}

// crash is the panic that ends a sync in the middle of a call, because its process ends or has ended.
type crash struct{ at Call }

// recoverCrash ends the process whose sync crashed, and starts another.
func (p *process) recoverCrash() {
	switch r := recover().(type) {
	case nil:
	case crash:
		if p.alive {
			p.world.tracef("crash at %v%s", r.at, p.world.signature(p.number))
			p.world.replace(p, p.world.Successor)
		}
	default:
		panic(r)
	}
}

// parallel runs the operations of a stage in a random order: any order must be correct.
func (p *process) parallel(_ cluster.Priority, n int, do func(i int)) {
	if d := p.world.Decider; d != nil {
		p.decided(d, n, do)
		return
	}
	for _, i := range p.world.rng.Perm(n) {
		do(i)
	}
}

// decided runs operations in the order that a Decider chooses.
func (*process) decided(d Decider, n int, do func(i int)) {
	var left []int
	for i := range n {
		left = append(left, i)
	}
	for len(left) > 0 {
		at := d.Next(len(left))
		i := left[at]
		left = slices.Delete(left, at, at+1)
		do(i)
	}
}
