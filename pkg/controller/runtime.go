package controller

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/eventwriter"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// Runtime runs an Engine on a live cluster.
type Runtime struct {
	config     Config
	cache      *observe.Cache
	engine     *Engine
	queue      workqueue.TypedRateLimitingInterface[types.UID]
	dispatcher *Dispatcher
	// events is nil if Config.Recorder was set.
	events *eventwriter.Writer
	live   *cluster.Live
	ready  atomic.Bool
}

// Ready reports whether the cache is filled and Jobs are being synced.
func (r *Runtime) Ready() bool { return r.ready.Load() }

// Pods returns the number of pods in the cache.
func (r *Runtime) Pods() int { return r.cache.CountPods() }

// New returns a Runtime; Run starts it.
func New(config Config) (*Runtime, error) {
	config.setDefaults()
	if config.Client == nil {
		return nil, errors.New("controller: Config.Client is not set")
	}
	if err := config.Validate(); err != nil {
		return nil, err
	}
	// Other Runtimes of this process may work on other shards.
	config.Metrics = config.Metrics.Scope()
	r := &Runtime{}
	if config.Recorder == nil {
		r.events = eventwriter.New(eventwriter.Config{
			RetryMin: config.RetryMin, RetryMax: config.RetryMax, CallTimeout: config.CallTimeout, Clock: config.Clock,
		})
		config.Recorder = r.events
	}
	r.config = config
	r.queue = newJobQueue(config, func(job types.UID) bool { return r.cache.HasEnded(job) })
	r.dispatcher, r.cache = NewDispatcher(config, r.queue)
	var err error
	if r.live, err = cluster.NewLive(config.Client, config.CallTimeout, config.Clock, r.cache.Ignores); err != nil {
		return nil, err
	}
	r.engine = NewEngine(config, r.cache, r.live.Cluster(config.PodConcurrency))
	r.dispatcher.OnOwnJob(r.engine.Own)
	r.dispatcher.OnPodEnded(r.engine.PodEnded)
	r.dispatcher.OnReleased(r.engine.Released)
	return r, nil
}

// Run reconciles Jobs until ctx is done. It then finishes the API calls in flight,
// starts no others, and returns nil.
func (r *Runtime) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	logger.Info("Starting", "managedBy", r.config.ManagedBy, "namespaces", r.config.Namespaces, "workers", r.config.Workers)
	r.dispatcher.OnOthersJob(func(job *batchv1.Job) {
		if by := job.Spec.ManagedBy; by != nil && *by != batchv1.JobControllerName {
			logger.V(2).Info("Job is managed by another controller", "job", klog.KObj(job), "managedBy", *by)
		}
	})
	// Events end last, since they include the events about the last writes.
	defer r.startEvents(ctx)()
	defer r.config.Metrics.Close() // When the watches have ended.
	var wg sync.WaitGroup
	defer wg.Wait()
	defer r.queue.ShutDown()
	if !r.startWatches(ctx, &wg) {
		r.queue.ShutDown()
		r.work(ctx) // Empties the queue, so that its metrics are correct.
		return nil
	}
	logger.Info("Watching", "jobs", len(r.cache.Jobs()))
	r.ready.Store(true)
	for range r.config.Workers {
		wg.Go(func() { r.work(ctx) })
	}
	<-ctx.Done()
	logger.Info("Stopping: waiting for API calls in flight")
	return nil
}

// startEvents starts writing events, and returns a function that stops it.
func (r *Runtime) startEvents(ctx context.Context) (stop func()) {
	if r.events == nil {
		return func() {}
	}
	client := r.config.EventClient
	if client == nil {
		client = r.config.Client
	}
	r.events.Start(ctx, client)
	return r.events.Stop
}

// startWatches fills the cache, Jobs before pods: then every pod that a Job's status counts is in the cache, and at
// least as new as that status. It reports whether the cache was filled before ctx ended.
func (r *Runtime) startWatches(ctx context.Context, wg *sync.WaitGroup) bool {
	jobs := r.eachNamespace(func(namespace string) observe.Store {
		store := r.cache.JobStore(namespace)
		lw, example := r.live.JobListWatch(namespace)
		r.watch(ctx, wg, "jobs", example, store, lw)
		return store
	})
	if !allSynced(ctx, jobs) {
		return false
	}
	known := r.cache.Jobs()
	pods := r.eachNamespace(func(namespace string) observe.Store {
		store := r.cache.PodStore(namespace)
		lw, example := r.live.PodListWatch(namespace)
		r.watch(ctx, wg, "pods", example, store, lw)
		return store
	})
	if !allSynced(ctx, pods) {
		return false
	}
	for _, job := range known {
		r.engine.Trust(job)
	}
	return true
}

// namespaces returns the namespaces to watch, or metav1.NamespaceAll.
func (r *Runtime) namespaces() []string {
	if len(r.config.Namespaces) == 0 {
		return []string{metav1.NamespaceAll}
	}
	return slices.DeleteFunc(slices.Clone(r.config.Namespaces), func(namespace string) bool { return !r.config.Shard.Contains(namespace) })
}

func (r *Runtime) eachNamespace(start func(namespace string) observe.Store) (stores []observe.Store) {
	for _, namespace := range r.namespaces() {
		stores = append(stores, start(namespace))
	}
	return stores
}

func allSynced(ctx context.Context, stores []observe.Store) bool {
	for _, s := range stores {
		select {
		case <-s.Synced():
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (r *Runtime) watch(ctx context.Context, wg *sync.WaitGroup, name string, example runtime.Object, store observe.Store, lw *cache.ListWatch) {
	lw = cluster.Sharded(lw, r.config.Shard, r.config.Unfiltered)
	source := cache.ToListWatcherWithWatchListSemantics(lw, r.config.Client)
	reflector := cache.NewReflectorWithOptions(source, example, slimming{store}, cache.ReflectorOptions{Name: name, Clock: r.config.Clock})
	wg.Go(func() { reflector.RunWithContext(ctx) })
}

// slimming lets a reflector hold its initial list as what the store keeps of it.
type slimming struct{ observe.Store }

// Transformer implements cache.TransformingStore.
func (s slimming) Transformer() cache.TransformFunc { return s.Slim }

func (r *Runtime) work(ctx context.Context) {
	for {
		uid, shutdown := r.queue.Get()
		if shutdown {
			return
		}
		if ctx.Err() == nil {
			r.syncOne(ctx, uid)
		}
		r.queue.Done(uid)
	}
}

func (r *Runtime) syncOne(ctx context.Context, uid types.UID) {
	begun := r.config.Clock.Now()
	result, err := r.engine.Sync(ctx, uid)
	r.logSync(ctx, uid, r.config.Clock.Since(begun), err)
	r.dispatcher.Synced(uid, result, err)
}

func (r *Runtime) logSync(ctx context.Context, uid types.UID, took time.Duration, err error) {
	logger := klog.FromContext(ctx).WithValues("jobUID", uid)
	if job := r.cache.Job(uid); job != nil {
		logger = logger.WithValues("job", klog.KObj(job))
	}
	switch {
	case errors.Is(err, kube.ErrUnsent):
		logger.V(2).Info("Sync ended early", "err", err)
		return
	case err != nil:
		logger.Error(err, "Sync failed, will retry", "retries", r.queue.NumRequeues(uid))
		return
	}
	logger.V(3).Info("Synced", "took", took)
}
