package controller

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Queue holds the Jobs that wait for a sync. A workqueue is one.
type Queue interface {
	// AddAfter asks for a sync after the wait, or an earlier one that was asked for.
	AddAfter(job types.UID, wait time.Duration)
	// AddRateLimited asks for a sync after a wait that grows with every call.
	AddRateLimited(job types.UID)
	// Forget ends that growth.
	Forget(job types.UID)
}

// Dispatcher decides which change leads to a sync, and when. It listens to the
// cache, and is told how each sync ended.
type Dispatcher struct {
	config   Config
	clock    clock.PassiveClock
	queue    Queue
	batcher  *batcher
	cache    *observe.Cache
	own      func(*batchv1.Job)
	others   func(*batchv1.Job)
	podEnded func(job types.UID)
}

// OnOwnJob sets what is told of every Job of ours that a watch brings, also of one
// that is gone. It must be set before the cache is filled.
func (d *Dispatcher) OnOwnJob(tell func(*batchv1.Job)) { d.own = tell }

// OnOthersJob sets what is told, once, of every Job that is another controller's (MGB-12).
func (d *Dispatcher) OnOthersJob(tell func(*batchv1.Job)) { d.others = tell }

// OnPodEnded sets what is told of a pod of a Job of ours that ends, or is gone.
func (d *Dispatcher) OnPodEnded(tell func(job types.UID)) { d.podEnded = tell }

// NewDispatcher returns a Dispatcher, and the cache that it listens to.
func NewDispatcher(config Config, queue Queue) (*Dispatcher, *observe.Cache) {
	config.setDefaults()
	d := &Dispatcher{config: config, clock: config.Clock, queue: queue, batcher: newBatcher(config.BatchPeriod), own: func(*batchv1.Job) {}, others: func(*batchv1.Job) {}, podEnded: func(types.UID) {}}
	d.cache = observe.NewCache(config.Namespaces, d)
	if config.ReplaceBuiltin {
		d.cache.OfAnyMaker()
	}
	if m := config.Metrics; m != nil {
		m.beginTerm()
		d.cache.OnHeld(func(job *batchv1.Job, pod *reconcile.Pod, held bool) bool {
			if held && !d.config.owns(job) {
				return false
			}
			m.finalizerHeld(pod, held)
			return true
		})
	}
	return d, d.cache
}

// JobChanged is called by the cache.
func (d *Dispatcher) JobChanged(c observe.JobChange) {
	job := c.New
	if job == nil {
		job = c.Old
	}
	switch {
	case d.config.owns(job):
		d.own(job)
		d.enqueue(job.UID, jobUrgency(c))
	case c.Old == nil:
		d.others(job)
		if d.config.ReplaceBuiltin {
			d.config.Metrics.jobOfOthers(*job.Spec.ManagedBy)
		}
	}
	if d.config.ReplaceBuiltin && !d.config.owns(job) {
		d.followForeign(job, c.New == nil)
	}
}

// followForeign: in place of the built-in controller, the pods of every Job are ours to
// let go once the Job is gone, whoever ran it.
func (d *Dispatcher) followForeign(job *batchv1.Job, gone bool) {
	d.own(job)
	if gone {
		d.enqueue(job.UID, atOnce)
	}
}

// PodChanged is called by the cache. Tracked pods of a Job that is gone still
// matter: it may have been ours, and the Engine knows.
func (d *Dispatcher) PodChanged(c observe.PodChange) {
	job := d.cache.Job(c.Job)
	ours := job != nil && d.config.owns(job)
	if ours && hasEnded(c.New) && !hasEnded(c.Old) {
		d.podEnded(c.Job)
	}
	if ours || job == nil && c.New != nil && c.New.Finalizer {
		d.enqueue(c.Job, podUrgency(c, ours && job.Spec.PodFailurePolicy != nil))
	}
}

// hasEnded: nil is a pod that is gone, or, before a change, one that was not there.
func hasEnded(p *reconcile.Pod) bool { return p == nil || p.IsTerminal() }

// StrayChanged is called by the cache: a pod has become nobody's, and others may adopt it.
func (d *Dispatcher) StrayChanged(adopters []*batchv1.Job) {
	for _, job := range adopters {
		if d.config.owns(job) && mayAdopt(job) {
			d.enqueue(job.UID, batched)
		}
	}
}

func (d *Dispatcher) enqueue(job types.UID, u urgency) {
	switch u {
	case atOnce:
		d.queue.AddAfter(job, 0)
	case batched:
		d.queue.AddAfter(job, d.batcher.delay(job, d.clock.Now()))
	}
}

// Synced takes what Engine.Sync returned.
func (d *Dispatcher) Synced(job types.UID, result Result, err error) {
	if err != nil {
		// What failed is tried again after a growing wait; what the Job waits for
		// besides (a deadline, a back-off) stays on time.
		d.queue.AddRateLimited(job)
	} else {
		d.queue.Forget(job)
	}
	switch {
	case result.Soon:
		d.queue.AddAfter(job, 0)
	case result.Done:
		d.batcher.forget(job)
	case result.After > 0:
		d.queue.AddAfter(job, result.After)
	}
}
