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
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// Config is what a Source works with.
type Config struct {
	feed.Timing
	Set    feed.JobSet                            // the list of Jobs
	Jobs   dynamic.NamespaceableResourceInterface // for the Job that is open
	Client kube.Interface                         // for all else, without a limit of its own
	// LogLines is how many last lines of logs belong to the evidence, 0 for none.
	LogLines int64
	// OpenLog makes a Log of a container of the namespace's pod. It calls changed when the Log has another Snapshot.
	OpenLog func(namespace string, target snapshot.LogTarget, changed func()) Log
	// Leases finds the Lease of a Job's controller, OurName is the managedBy value of ours.
	Leases  gather.Leases
	OurName string
	// Quote adds to the advice on a Job that has finished what it would have changed.
	Quote func(context.Context, explain.Input, []explain.Advice)
	// Refused takes note that the list may not be watched, and is read instead.
	Refused func(*feed.Refusal)
	// Explain is an error in one line for people. Guard returns a panic of a function as an error.
	Explain func(error) string
	Guard   func(func() error) func() error
}

// Source keeps up with a cluster for those who look at it.
type Source struct {
	Config
	group   *errgroup.Group
	link    *feed.Link
	looked  chan struct{} // the focus is another
	news    chan struct{} // for the goroutine that makes Snapshots
	changed atomic.Bool   // something that the next Snapshot shows
	draft   draft         // of that goroutine

	mu     sync.Mutex
	wanted snapshot.Focus
	focus  snapshot.Focus // what job, pod and log are about
	list   jobList
	job    *openJob // nil for none, and so on
	pod    *openPod
	log    Log

	pace      pace
	latest    *snapshot.Snapshot
	published chan struct{} // closed and replaced with each Snapshot
	end       error         // there will be no more
}

var _ snapshot.Source = (*Source)(nil)

// NewSource returns a source that begins with Run.
func NewSource(config Config) *Source {
	s := &Source{Config: config, looked: make(chan struct{}, 1), news: make(chan struct{}, 1), published: make(chan struct{})}
	s.link = feed.NewLink(config.Timing, func(feed.State) { s.touch() })
	s.list.source, s.list.news, s.list.only.news = s, make(chan struct{}, 1), make(chan struct{}, 1)
	s.list.stalls = feed.Stalls{Timing: config.Timing, Client: config.Client, Namespace: config.Set.Namespace, OurName: config.OurName, Failures: true}
	return s
}

// Run keeps up until the context ends, or until something that no retry mends: the first list of Jobs fails, none of the
// names that were asked for exists, Jobs may not be read. When it returns, all that it started has ended.
func (s *Source) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	s.group = group
	pulse := feed.Pulse{Link: s.link, Probe: feed.Livez(s.Client)}
	for _, task := range []func(context.Context) error{s.followJobs, s.followStalls, s.attend, s.publishAll, pulse.Run} {
		group.Go(s.Guard(func() error { return task(ctx) }))
	}
	err := group.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = err
	close(s.published)
	return err
}

// Look sets what is looked at from now on.
func (s *Source) Look(f snapshot.Focus) {
	if f.Log != nil {
		target := *f.Log
		f.Log = &target // The caller's may change.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !f.Equal(s.wanted) {
		s.wanted = f
		notify(s.looked)
	}
}

// Next waits for a Snapshot with a Seq above seen, and returns the latest; after Run its error.
func (s *Source) Next(ctx context.Context, seen uint64) (*snapshot.Snapshot, error) {
	for {
		s.mu.Lock()
		latest, end, published := s.latest, s.end, s.published
		s.mu.Unlock()
		switch {
		case latest != nil && latest.Seq > seen:
			return latest, nil
		case end != nil:
			return nil, end
		}
		select {
		case <-published:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// touch asks for a Snapshot.
func (s *Source) touch() {
	s.changed.Store(true)
	notify(s.news)
}

// notify leaves a note for the one who waits; one note is enough for any number of news.
func notify(news chan<- struct{}) {
	select {
	case news <- struct{}{}:
	default:
	}
}

// tasks are goroutines that begin and end together.
type tasks struct {
	cancel  context.CancelFunc
	running *sync.WaitGroup
}

// start begins each of the tasks. What one returns before it was stopped ends the source.
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

// stop returns when all have ended. It may be called again, or for tasks that never began.
func (t *tasks) stop() {
	if t.cancel != nil {
		t.cancel()
		t.running.Wait()
	}
}
