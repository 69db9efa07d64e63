package sim

import (
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim/podlife"
)

// Options configure a World. Zero values mean the default.
type Options struct {
	Seed uint64
	// Begun is the virtual time at the start; the beginning of 2026 by default.
	Begun time.Time
	// Latency is the longest time an API call takes; each takes a random part of it. Default 4 ms.
	Latency time.Duration
	// Lag is the longest delay of a watch event. Default 20 ms.
	Lag time.Duration
	// Controller is the configuration under test; Client and Clock are ignored. Zero Limits mean
	// reconcile.DefaultConfig, with all features enabled.
	Controller controller.Config
	// MaxWrites limits the writes, and also the API calls: RunUntil gives up beyond it. 0 for no limit.
	MaxWrites int
	// SucceededPods is the number of succeeded pods that the pod garbage collector keeps, the newest; 0 for all. In a
	// real cluster, it also deletes failed pods (--terminated-pod-gc-threshold), which show why a Job failed.
	SucceededPods int
	// MaxPods limits the pods that exist at once: RunUntil gives up beyond it. 0 for no limit.
	MaxPods int
	// QPS is the maximum number of API calls per second by the controller's client; 0 for no limit.
	QPS float64
	// Workers is the maximum number of Jobs synced at once; 0 for no limit.
	Workers int
	// OnSync, if set, is called with the duration of each sync, in virtual time.
	OnSync func(took time.Duration)
	// OnCommit, if set, is called for each write when it is stored.
	OnCommit func(Commit)
	// Fault, if set, is called for every API call of the controller, WatchFault for every event that a watch delivers
	// to it.
	Fault      func(Call) Fault
	WatchFault func() WatchFault
	// Successor configures a process that replaces a crashed one.
	Successor ProcessOptions

	// OnWork, if set, is called with the work that each stage of a sync is about to do, if the World has an Observer.
	OnWork func(work any)
	// Decider, if set, makes the choices that otherwise depend on Seed.
	Decider Decider
}

// World is a cluster with one or two controller processes, a clock, and an order of events.
type World struct {
	Options
	Store    *Store
	observer Observer
	timeline
	// current is the running routine, busy the number of routines.
	current *routine
	busy    int
	calls   int
	// gaveUp is the reason why RunUntil gave up, or "".
	gaveUp  string
	kubelet kubelet
	collector
	// processes are the live controller processes. started is, for each process, dead or alive, by number, the time of
	// the state that it started with.
	processes []*process
	started   []time.Time
	journal   Journal
	// awayUntil is the end of an outage of the API server, skew the time by which the clocks of new processes are ahead.
	awayUntil time.Time
	skew      time.Duration
	ctx       context.Context
}

// NewWorld returns a new World with the controller running.
func NewWorld(o Options) *World {
	if o.Latency == 0 {
		o.Latency = 4 * time.Millisecond
	}
	if o.Lag == 0 {
		o.Lag = 20 * time.Millisecond
	}
	if o.Controller.Limits == (reconcile.Config{}) {
		o.Controller.Limits = reconcile.DefaultConfig()
	}
	begun := o.Begun
	if begun.IsZero() {
		begun = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	w := &World{
		Options:  o,
		timeline: timeline{clock: clocktesting.NewFakeClock(begun), begun: begun, rng: rand.New(rand.NewPCG(o.Seed, 0))},
		ctx:      klog.NewContext(context.Background(), logr.Discard()),
	}
	w.kubelet = kubelet{
		world: w, behaviors: map[string]Behavior{}, jobs: map[types.UID]string{},
		places: map[types.UID]int{}, made: map[madeFor]int{}, lives: map[types.UID]*podlife.Pod{},
	}
	w.collector = collector{world: w}
	w.Store = NewStore(w.clock.Now, w.committed)
	w.Store.shared = true
	w.processes = []*process{newProcess(w, ProcessOptions{})}
	return w
}

// step runs the next event; it reports whether there was one by limit, or, while a routine is running, any.
func (w *World) step(limit time.Time) bool {
	if len(w.events) == 0 || w.busy == 0 && w.events[0].at.After(limit) {
		return false
	}
	e := heap.Pop(&w.events).(*Event)
	w.Advance(e.at)
	e.do()
	return true
}

// Advance sets the clock, unless it is already later.
func (w *World) Advance(to time.Time) {
	if to.After(w.Now()) {
		w.notify(ClockAdvancing{to})
		w.clock.SetTime(to)
	}
}

// RunUntil runs events until the condition holds or the limit has passed. It reports whether the condition was met.
// Running routines are completed.
func (w *World) RunUntil(condition func() bool, limit time.Duration) bool {
	end := w.Now().Add(limit)
	for w.busy > 0 || !condition() {
		if w.givesUp() {
			return false
		}
		if !w.step(end) {
			w.Advance(end)
			return condition()
		}
	}
	return true
}

// eventsPerWrite is more than the number of events that a write or call causes. Events without either need not take
// virtual time.
const eventsPerWrite = 50

// GaveUp reports whether MaxWrites or MaxPods ended the simulation.
func (w *World) GaveUp() bool { return w.gaveUp != "" }

// givesUp reports whether the controller never becomes idle, or has too many pods.
func (w *World) givesUp() bool {
	most := w.MaxWrites
	if most > 0 && w.gaveUp == "" && (max(w.Store.version, int64(w.calls)) > int64(most) || w.number > uint64(eventsPerWrite*most)) {
		w.gaveUp = fmt.Sprintf("more than %d writes and calls, or %d events: %d, %d and %d", most, eventsPerWrite*most, w.Store.version, w.calls, w.number)
		w.notify(GaveUp{w.gaveUp})
	}
	if w.MaxPods > 0 && w.gaveUp == "" && len(w.Store.pods) > w.MaxPods {
		w.gaveUp = fmt.Sprintf("more than %d pods at once", w.MaxPods)
		w.notify(GaveUp{w.gaveUp})
	}
	return w.gaveUp != ""
}

// Restart ends every controller process, and starts new ones without memory.
func (w *World) Restart() { w.RestartAs(ProcessOptions{}) }

// RestartAs is like Restart, for processes with other options.
func (w *World) RestartAs(o ProcessOptions) {
	for _, p := range w.processes {
		w.replace(p, o)
	}
}

// replace ends a controller process, and starts another for the same shard in its place.
func (w *World) replace(p *process, o ProcessOptions) {
	o.Shard = p.Shard
	p.alive = false
	w.notify(ProcessStarted{o})
	w.processes[slices.Index(w.processes, p)] = newProcess(w, o)
}

// SecondLeader starts another process of the same controller.
func (w *World) SecondLeader(o ProcessOptions) {
	w.notify(ProcessStarted{o})
	w.processes = append(w.processes, newProcess(w, o))
}

// OneLeader ends all processes except the newest whose shard has the namespace.
func (w *World) OneLeader() {
	for i, p := range slices.Backward(w.processes) {
		if p.isWorking() {
			w.end(slices.Delete(slices.Clone(w.processes), i, i+1))
			return
		}
	}
}

// Reshard starts a process for each of count shards, and ends the present processes after the given time, during which
// shards are held twice. If after is negative, it ends them that much earlier than it starts the new ones.
func (w *World) Reshard(count int, after time.Duration) {
	start := func() {
		for i := range count {
			w.SecondLeader(ProcessOptions{Shard: shard.Of(i, count)})
		}
	}
	old := w.processes
	if after < 0 {
		w.end(old)
		w.notify(WatchesBlind{w.Now().Add(-after)})
		w.After(-after, func() {
			w.end(w.processes) // including processes of a Reshard in between
			start()
		})
		return
	}
	start()
	w.After(after, func() { w.end(old) })
}

// end ends processes without replacing them.
func (w *World) end(processes []*process) {
	for _, p := range processes {
		p.alive = false
	}
	w.processes = slices.DeleteFunc(slices.Clone(w.processes), func(p *process) bool { return !p.alive })
	w.notify(ProcessStarted{})
}

// signature identifies the process that acted, if there are several.
func (w *World) signature(process int) string {
	if len(w.processes) < 2 || process == 0 {
		return ""
	}
	return fmt.Sprintf(" (process %d)", process)
}

func (w *World) committed(c Commit) {
	if w.OnCommit != nil {
		w.OnCommit(c)
	}
	w.journal.add(c, w.Now())
	w.notify(c)
	w.kubelet.committed(c)
	for _, p := range w.processes {
		p.jobs.deliver(c)
		p.pods.deliver(c)
	}
	w.collector.committed(c)
}

// Play creates a Job as a user would, with the name, annotations and spec of job. It adds a managedBy, a container and
// a restart policy if the spec has none.
func (w *World) Play(job *batchv1.Job, pods Behavior) error {
	w.kubelet.behaviors[job.Name] = pods
	return w.Create(job)
}

// CreateJob is like Play, for a Job that has only a name and a spec.
func (w *World) CreateJob(name string, spec batchv1.JobSpec, pods Script) error {
	job := &batchv1.Job{Spec: spec}
	job.Name = name
	return w.Play(job, pods)
}

// Create is like Play, for a Job whose pods follow the scenes of AddScene.
func (w *World) Create(job *batchv1.Job) error {
	if job.Spec.ManagedBy == nil {
		job.Spec.ManagedBy = ptr.To(controller.DefaultManagedBy)
	}
	template := &job.Spec.Template.Spec
	if len(template.Containers) == 0 {
		template.Containers = []corev1.Container{{Name: "main", Image: "image"}}
	}
	if template.RestartPolicy == "" {
		template.RestartPolicy = corev1.RestartPolicyNever
	}
	_, err := w.Store.CreateJob(job)
	return err
}

// Resume sets spec.suspend of a Job to false, as a user or a queue would, after a while.
func (w *World) Resume(name string, after time.Duration) {
	w.After(after, func() {
		_, _ = w.Store.EditJob(name, func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(false) }) // It may be gone.
	})
}

// Finished reports whether the Job of that name is finished.
func (w *World) Finished(name string) bool {
	job := w.Store.jobs[name]
	return job != nil && reconcile.IsFinished(job)
}

// FinishedAll reports whether all Jobs are finished.
func (w *World) FinishedAll() bool {
	for _, job := range w.Store.jobs {
		if !reconcile.IsFinished(job) {
			return false
		}
	}
	return true
}

// Suspended reports whether the controller has suspended the Job of that name.
func (w *World) Suspended(name string) bool {
	job := w.Store.jobs[name]
	return job != nil && reconcile.TrueCondition(job, batchv1.JobSuspended) != nil
}
