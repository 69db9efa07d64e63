package controller

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Queue holds the Jobs that wait for a sync. A client-go workqueue implements it.
type Queue interface {
	// AddAfter requests a sync after the wait, unless an earlier sync is pending.
	AddAfter(job types.UID, wait time.Duration)
	// AddRateLimited requests a sync after a wait that grows with every call.
	AddRateLimited(job types.UID)
	// Forget resets the wait of AddRateLimited.
	Forget(job types.UID)
}

// Dispatcher decides which changes lead to a sync, and when. It receives the changes of the cache and the result of
// each sync.
type Dispatcher struct {
	config   Config
	clock    clock.PassiveClock
	queue    Queue
	batcher  *batcher
	cache    *observe.Cache
	own      func(*batchv1.Job)
	others   func(*batchv1.Job)
	podEnded func(*batchv1.Job, observe.PodChange)
	released func(job types.UID)
}

// OnOwnJob sets a handler for every event about a Job of ours, including its
// deletion. It must be set before the cache is filled.
func (d *Dispatcher) OnOwnJob(notify func(*batchv1.Job)) { d.own = notify }

// OnOthersJob sets a handler that is called once for every Job of another controller (MGB-12).
func (d *Dispatcher) OnOthersJob(notify func(*batchv1.Job)) { d.others = notify }

// OnPodEnded sets a handler for changes of pods of our Jobs that have ended or are gone, or are being deleted.
func (d *Dispatcher) OnPodEnded(handle func(*batchv1.Job, observe.PodChange)) { d.podEnded = handle }

// OnReleased sets a handler for pods of our Jobs that lose their finalizer, or are gone, although the Job's status, as
// far as this process knows it, does not record them.
func (d *Dispatcher) OnReleased(notify func(job types.UID)) { d.released = notify }

// NewDispatcher returns a Dispatcher, and the cache whose changes it receives.
func NewDispatcher(config Config, queue Queue) (*Dispatcher, *observe.Cache) {
	config.setDefaults()
	d := &Dispatcher{config: config, clock: config.Clock, queue: queue, batcher: newBatcher(config.BatchPeriod), own: func(*batchv1.Job) {}, others: func(*batchv1.Job) {}, podEnded: func(*batchv1.Job, observe.PodChange) {}, released: func(types.UID) {}}
	owns := d.config.owns
	if config.ReplaceBuiltin {
		owns = nil // The pods of any Job are ours to release once the Job is deleted.
	}
	d.cache = observe.NewCache(config.Namespaces, owns, d)
	if config.ReplaceBuiltin {
		d.cache.OrphansOfAll()
	}
	if m := config.Metrics; m != nil {
		m.Forget()
		d.cache.OnHeld(func(job *batchv1.Job, pod *reconcile.Pod, held bool) bool {
			if held && !d.config.owns(job) {
				return false
			}
			m.FinalizerHeld(pod, held)
			return true
		})
	}
	return d, d.cache
}

// JobChanged implements observe.Listener.
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
			d.config.Metrics.JobOfOthers(*job.Spec.ManagedBy)
		}
	}
	if d.config.ReplaceBuiltin && !d.config.owns(job) {
		d.followForeign(job, c.New == nil)
	}
}

// followForeign follows Jobs of other controllers if we replace the built-in one: the pods of every deleted Job are
// ours to release then.
func (d *Dispatcher) followForeign(job *batchv1.Job, gone bool) {
	d.own(job)
	if gone {
		d.enqueue(job.UID, atOnce)
	}
}

// PodChanged implements observe.Listener. Tracked pods of a deleted Job still matter: the Job may have been ours, which
// the Engine knows.
func (d *Dispatcher) PodChanged(c observe.PodChange) {
	job := d.cache.Job(c.Job)
	ours := job != nil && d.config.owns(job)
	if ours {
		d.noteEnd(job, c)
	}
	if ours || job == nil && c.New != nil && c.New.Finalizer {
		d.enqueue(c.Job, podUrgency(c, ours && job.Spec.PodFailurePolicy != nil))
	}
}

// noteEnd reports that a pod of ours has ended, is being deleted, or was released by another client.
func (d *Dispatcher) noteEnd(job *batchv1.Job, c observe.PodChange) {
	if hasEnded(c.New) || c.New.Deleting {
		d.podEnded(job, c)
	}
	if isReleased(c) && !isRecorded(&job.Status, c.Old) {
		d.released(c.Job)
	}
}

// hasEnded reports whether a pod has ended; p is nil if the pod is gone or does not exist yet.
func hasEnded(p *reconcile.Pod) bool { return p == nil || p.IsTerminal() }

// isReleased reports whether a pod had the finalizer and no longer has it.
func isReleased(c observe.PodChange) bool {
	return c.Old != nil && c.Old.Finalizer && (c.New == nil || !c.New.Finalizer)
}

// isRecorded reports whether a status records the end of a pod, and has not yet dropped the pod because it was
// released.
func isRecorded(s *batchv1.JobStatus, p *reconcile.Pod) bool {
	if u := s.UncountedTerminatedPods; u != nil && (slices.Contains(u.Succeeded, p.UID) || slices.Contains(u.Failed, p.UID)) {
		return true
	}
	completed, err := indexset.Parse(s.CompletedIndexes)
	return err == nil && completed.Contains(p.Index)
}

// StrayChanged implements observe.Listener.
func (d *Dispatcher) StrayChanged(affected []*batchv1.Job) {
	for _, job := range affected {
		if d.config.owns(job) && (mayAdopt(job) || len(d.cache.Orphans(job.UID)) > 0) {
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

// Synced handles the result of Engine.Sync.
func (d *Dispatcher) Synced(job types.UID, result Result, err error) {
	if err != nil {
		// The failed sync is retried after a growing wait; other waits of the Job (a deadline, a back-off) stay on time.
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
