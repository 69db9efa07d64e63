package live

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// Config configures a Source.
type Config struct {
	feed.Timing
	Set    feed.JobSet                            // the list of Jobs
	Jobs   dynamic.NamespaceableResourceInterface // client for the open Job
	Client kube.Interface                         // client for all other objects, without a rate limit of its own
	// LogLines is how many lines from the end of each log are read as evidence; 0 for none.
	LogLines int64
	// OpenLog returns a Log of a container of a pod in the namespace, or of the failed pods of the open Job. The Log calls
	// changed when its Snapshot has changed.
	OpenLog func(namespace string, target snapshot.LogTarget, failed func() FailedPods, changed func()) Log
	// Leases finds the Lease of a Job's controller. OurName is the managedBy value of our controller.
	Leases  gather.Leases
	OurName string
	// Quote extends the advice on a finished Job by what it would have changed.
	Quote func(context.Context, input.Input, []explain.Advice)
	// OnRefusal is called when the list is polled because watching it is forbidden, and with nil when it is watched.
	OnRefusal func(*feed.Refusal)
	// Explain formats an error in one line for users. Guard converts a panic of a function to an error.
	Explain func(error) string
	Guard   func(func() error) func() error
}

// Source follows a cluster and publishes Snapshots of it.
type Source struct {
	Config
	group        *errgroup.Group
	link         *feed.Link
	focusChanged chan struct{} // notified when the focus was changed
	wake         chan struct{} // wakes the goroutine that makes Snapshots
	changed      atomic.Bool   // something has changed that the next Snapshot shows
	draft        draft         // used by that goroutine only

	mu      sync.Mutex
	wanted  snapshot.Focus
	focus   snapshot.Focus // the focus of job, cronJob, pod and log
	list    jobList
	job     *openJob // nil for none, like cronJob, pod and log
	cronJob *openCronJob
	pod     *openPod
	log     Log

	pace      pace
	latest    *snapshot.Snapshot
	published chan struct{} // closed and replaced with each Snapshot
	runErr    error         // the error of Run; there are no more Snapshots
}

var _ snapshot.Source = (*Source)(nil)

// NewSource returns a Source, which does nothing until Run.
func NewSource(config Config) *Source {
	s := &Source{Config: config, focusChanged: make(chan struct{}, 1), wake: make(chan struct{}, 1), published: make(chan struct{})}
	s.link = feed.NewLink(config.Timing, func(feed.State) { s.touch() })
	s.list.source, s.list.firstRead, s.list.only.changes = s, make(chan struct{}, 1), make(chan struct{}, 1)
	s.list.stalls = feed.Stalls{Timing: config.Timing, Client: config.Client, Namespace: config.Set.Namespace, OurName: config.OurName, Failures: true}
	return s
}

// Run runs until ctx is done or an error cannot be retried: the first list of Jobs fails, none of the requested names exists,
// or reading Jobs is forbidden. All goroutines have ended when it returns.
func (s *Source) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	s.group = group
	pulse := feed.Pulse{Link: s.link, Probe: feed.Livez(s.Client)}
	for _, task := range []func(context.Context) error{s.followJobs, s.followStalls, s.followFocus, s.publishAll, pulse.Run} {
		group.Go(s.Guard(func() error { return task(ctx) }))
	}
	err := group.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runErr = err
	close(s.published)
	return err
}

// Look sets the focus.
func (s *Source) Look(f snapshot.Focus) {
	if f.Log != nil {
		target := *f.Log
		f.Log = &target // The caller may change its value.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !f.Equal(s.wanted) {
		s.wanted = f
		notify(s.focusChanged)
	}
}

// Next waits for a Snapshot with a Seq above seen, and returns the latest one; after Run has ended, it returns Run's error.
func (s *Source) Next(ctx context.Context, seen uint64) (*snapshot.Snapshot, error) {
	for {
		s.mu.Lock()
		latest, err, published := s.latest, s.runErr, s.published
		s.mu.Unlock()
		switch {
		case latest != nil && latest.Seq > seen:
			return latest, nil
		case err != nil:
			return nil, err
		}
		select {
		case <-published:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// touch requests a Snapshot.
func (s *Source) touch() {
	s.changed.Store(true)
	notify(s.wake)
}

// notify wakes the receiver; pending notifications are coalesced.
func notify(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// tasks are goroutines that are started and stopped together.
type tasks struct {
	cancel  context.CancelFunc
	running *sync.WaitGroup
}

// start starts the tasks. If a task returns before it is stopped, its error ends the Source.
func (t *tasks) start(ctx context.Context, s *Source, each ...func(context.Context) error) {
	ctx, t.cancel = context.WithCancel(ctx)
	t.running = &sync.WaitGroup{}
	running := t.running
	for _, task := range each {
		running.Add(1)
		s.group.Go(s.Guard(func() error {
			defer running.Done()
			if err := task(ctx); ctx.Err() == nil {
				return err
			}
			return nil
		}))
	}
}

// stop stops the tasks and waits for them. It may be called repeatedly, or before start.
func (t *tasks) stop() {
	if t.cancel != nil {
		t.cancel()
		t.running.Wait()
	}
}
