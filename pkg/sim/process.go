package sim

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// process is a controller process: the real Engine and Dispatcher over a cache
// that watches fill, and a queue in virtual time.
type process struct {
	world      *World
	alive      bool
	engine     *controller.Engine
	dispatcher *controller.Dispatcher
	jobs, pods stream

	due     map[types.UID]uint64
	dueAt   map[types.UID]time.Time
	tickets uint64
	retries map[types.UID]int
	running map[types.UID]bool
	again   map[types.UID]bool
	// waiting are Jobs that are due, and for which no worker is free.
	waiting []types.UID
	// nextCall is when the rate limit lets the next call through.
	nextCall time.Time
}

// stream is one watch: events arrive late, and in order.
type stream struct {
	store observe.Store
	last  time.Time
}

func newProcess(w *World) *process {
	p := &process{
		world: w, alive: true,
		due: map[types.UID]uint64{}, dueAt: map[types.UID]time.Time{}, retries: map[types.UID]int{},
		running: map[types.UID]bool{}, again: map[types.UID]bool{},
	}
	config := w.Controller
	config.Clock = w.clock
	var cache *observe.Cache
	p.dispatcher, cache = controller.NewDispatcher(config, p)
	p.engine = controller.NewEngine(config, cache, controller.Cluster{Jobs: jobAPI{p}, Pods: podAPI{p}, List: p, Parallel: p.parallel})
	p.dispatcher.OnOwnJob(p.engine.Own)
	p.jobs.store, p.pods.store = cache.JobStore(""), cache.PodStore("")
	p.list()
	return p
}

// list is the first list of both watches, Jobs before pods as in the Runtime.
func (p *process) list() {
	var jobs, pods []any
	for _, name := range slices.Sorted(maps.Keys(p.world.Store.jobs)) {
		jobs = append(jobs, p.world.Store.jobs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(p.world.Store.pods)) {
		pods = append(pods, p.world.Store.pods[name])
	}
	version := strconv.FormatInt(p.world.Store.version, 10)
	must(p.jobs.store.Replace(jobs, version))
	must(p.pods.store.Replace(pods, version))
	for _, job := range jobs {
		p.engine.Trust(job.(*batchv1.Job))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// deliver sends a commit on its way to the watch.
func (p *process) deliver(c Commit) {
	version := strconv.FormatInt(c.Version, 10)
	switch {
	case c.NewJob != nil:
		p.send(&p.jobs, func(s observe.Store) error { return s.Update(c.NewJob) })
	case c.OldJob != nil:
		last := c.OldJob.DeepCopy()
		last.ResourceVersion = version
		p.send(&p.jobs, func(s observe.Store) error { return s.Delete(last) })
	case c.NewPod != nil:
		p.send(&p.pods, func(s observe.Store) error { return s.Update(c.NewPod) })
	default:
		last := *c.OldPod
		last.ResourceVersion = version
		p.send(&p.pods, func(s observe.Store) error { return s.Delete(&last) })
	}
}

func (p *process) send(s *stream, deliver func(observe.Store) error) {
	at := p.world.Now().Add(p.world.random(p.world.Lag))
	if !at.After(s.last) {
		at = s.last.Add(1)
	}
	s.last = at
	p.world.after(at.Sub(p.world.Now()), func() {
		if p.alive {
			must(deliver(s.store))
		}
	})
}

// AddAfter, AddRateLimited and Forget are the Dispatcher's queue.
func (p *process) AddAfter(job types.UID, wait time.Duration) {
	at := p.world.Now().Add(wait)
	if _, waiting := p.due[job]; waiting && !at.Before(p.dueAt[job]) {
		return
	}
	p.tickets++
	ticket := p.tickets
	p.due[job], p.dueAt[job] = ticket, at
	p.world.after(wait, func() {
		if p.alive && p.due[job] == ticket {
			delete(p.due, job)
			p.sync(job)
		}
	})
}

// AddRateLimited waits 1 s, 2 s, 4 s … 60 s.
func (p *process) AddRateLimited(job types.UID) {
	wait := min(time.Second<<min(p.retries[job], 6), time.Minute)
	p.retries[job]++
	p.AddAfter(job, wait)
}

// Forget ends the growth.
func (p *process) Forget(job types.UID) { delete(p.retries, job) }

func (p *process) sync(job types.UID) {
	if p.running[job] {
		p.again[job] = true
		return
	}
	if w := p.world.Workers; w > 0 && len(p.running) >= w {
		p.waiting = append(p.waiting, job)
		return
	}
	p.running[job] = true
	begun := p.world.Now()
	result, err := p.engine.Sync(p.world.ctx, job)
	delete(p.running, job)
	if !p.alive {
		return
	}
	if len(p.waiting) > 0 {
		p.AddAfter(p.waiting[0], 0)
		p.waiting = p.waiting[1:]
	}
	if p.world.OnSync != nil {
		p.world.OnSync(p.world.Now().Sub(begun))
	}
	p.world.Checker.synced(job, err)
	p.dispatcher.Synced(job, result, err)
	if p.again[job] {
		delete(p.again, job)
		p.AddAfter(job, 0)
	}
}

// parallel runs the operations of a stage in a random order: any order is right.
func (p *process) parallel(n int, do func(i int)) {
	for _, i := range p.world.rng.Perm(n) {
		do(i)
	}
}

var errNetwork = errors.New("connection reset by the simulated network")

// call carries out an API call: time passes before and after the write, other
// things happen meanwhile, and a fault may strike. A process that was replaced
// while it waited never gets an answer.
func call[T any](p *process, verb, object string, write func() (T, error)) (T, error) {
	var none T
	w := p.world
	w.calls++
	c := Call{Number: w.calls, Verb: verb, Object: object}
	fault := NoFault
	if w.Fault != nil {
		fault = w.Fault(c)
	}
	if fault != NoFault {
		w.Checker.troubled()
	}
	w.pass(p.throttled() + w.random(w.Latency/2))
	if !p.alive || fault == CrashBefore {
		panic(crash{c})
	}
	if fault == Fail {
		w.tracef("%s %s fails", verb, object)
		return none, apierrors.NewInternalError(errors.New("simulated"))
	}
	w.Store.ours = true
	out, err := write()
	w.Store.ours = false
	if err != nil {
		w.tracef("%s %s: %v", verb, object, err)
	}
	if fault == CrashAfter {
		panic(crash{c})
	}
	w.pass(w.random(w.Latency / 2))
	if !p.alive {
		panic(crash{c})
	}
	if fault == LoseResponse {
		w.tracef("%s %s: response lost", verb, object)
		return none, errNetwork
	}
	return out, err
}

// throttled is how long the client's rate limit holds up a call that is made now.
func (p *process) throttled() time.Duration {
	if p.world.QPS == 0 {
		return 0
	}
	now := p.world.Now()
	if p.nextCall.Before(now) {
		p.nextCall = now
	}
	wait := p.nextCall.Sub(now)
	p.nextCall = p.nextCall.Add(time.Duration(float64(time.Second) / p.world.QPS))
	return wait
}

// List reads pods past the cache.
func (p *process) List(_ context.Context, job *batchv1.Job, all bool) ([]corev1.Pod, string, error) {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	must(err)
	type answer struct {
		pods    []corev1.Pod
		version string
	}
	a, err := call(p, "list pods of", job.Name, func() (answer, error) {
		a := answer{version: strconv.FormatInt(p.world.Store.version, 10)}
		for _, name := range slices.Sorted(maps.Keys(p.world.Store.pods)) {
			if pod := p.world.Store.pods[name]; all || selector.Matches(labels.Set(pod.Labels)) {
				a.pods = append(a.pods, *p.world.Store.copy(pod))
			}
		}
		p.world.tracef("list pods of %s", job.Name)
		return a, nil
	})
	return a.pods, a.version, err
}

type jobAPI struct{ *process }

func (a jobAPI) Get(_ context.Context, _, name string) (*batchv1.Job, error) {
	return call(a.process, "get job", name, func() (*batchv1.Job, error) {
		if job := a.world.Store.Job(name); job != nil {
			return job, nil
		}
		return nil, apierrors.NewNotFound(jobsResource, name)
	})
}

func (a jobAPI) UpdateStatus(_ context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	return call(a.process, "status", job.Name, func() (*batchv1.Job, error) {
		a.world.Checker.statusWrite(job)
		out, err := a.world.Store.UpdateJobStatus(job)
		a.world.Checker.answered(err)
		return out, err
	})
}

type podAPI struct{ *process }

func (a podAPI) Create(_ context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	return call(a.process, "create pod", pod.GenerateName, func() (*corev1.Pod, error) { return a.world.Store.CreatePod(pod) })
}

func (a podAPI) Delete(_ context.Context, _ string, ref reconcile.PodRef) (*corev1.Pod, error) {
	return call(a.process, "delete pod", ref.Name, func() (*corev1.Pod, error) {
		a.world.Checker.podWrite("delete", ref, nil)
		return a.world.Store.DeletePod(ref.Name, ref.UID)
	})
}

var patchVerbs = map[controller.PodPatch]string{controller.ReleasePod: "release", controller.AdoptPod: "adopt", controller.DisownPod: "disown"}

func (a podAPI) Patch(_ context.Context, job *batchv1.Job, ref reconcile.PodRef, patch controller.PodPatch) (*corev1.Pod, error) {
	verb := patchVerbs[patch]
	return call(a.process, verb+" pod", ref.Name, func() (*corev1.Pod, error) {
		a.world.Checker.podWrite(verb, ref, job)
		return a.world.Store.PatchPod(verb, ref, func(pod *corev1.Pod) { tie(pod, job, patch) })
	})
}

// tie changes what ties a pod to a Job.
func tie(pod *corev1.Pod, job *batchv1.Job, patch controller.PodPatch) {
	pod.Finalizers = slices.DeleteFunc(pod.Finalizers, func(f string) bool { return f == batchv1.JobTrackingFinalizer })
	switch patch {
	case controller.AdoptPod:
		pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
		removeOwner(pod, job.UID)
		pod.OwnerReferences = append(pod.OwnerReferences, jobReference(job))
	case controller.DisownPod:
		removeOwner(pod, job.UID)
	}
}

func jobReference(job *batchv1.Job) metav1.OwnerReference {
	return *metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))
}
