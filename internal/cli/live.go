package cli

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// liveLogLines is how many last lines of the logs that tell most belong to the evidence, if nobody says otherwise.
const liveLogLines = 10

// liveConfig is what a liveSource works with.
type liveConfig struct {
	set      jobSet                            // the list of Jobs
	jobs     func(namespace string) *jobClient // for the Job that is open
	client   kubernetes.Interface              // for all else, without a limit of its own
	env      environment
	logLines int64 // of the evidence, 0 for none
}

// liveSource keeps up with a cluster for those who look at it: with a set of Jobs, and with what belongs to the one Job,
// the one pod and the one log that are in focus. It gets, lists and watches, and never writes.
//
// Watches feed what is kept under mu; a single goroutine makes Snapshots of that, at a pace that leaves the machine to
// others (livePace).
type liveSource struct {
	liveConfig
	group  *errgroup.Group
	looked chan struct{} // the focus is another
	news   chan struct{} // for the goroutine that makes Snapshots
	draft  liveDraft     // of that goroutine

	mu      sync.Mutex
	wanted  snapshot.Focus
	focus   snapshot.Focus // what job, pod and log are about
	changed bool           // something that the next Snapshot shows
	link    liveLink
	list    liveJobs
	job     *liveJob // nil for none, and so on
	pod     *livePod
	log     *liveLog

	pace      livePace
	latest    *snapshot.Snapshot
	published chan struct{} // closed and replaced with each Snapshot
	end       error         // there will be no more
}

var _ snapshot.Source = (*liveSource)(nil)

// newLiveSource returns a source that begins with run.
func newLiveSource(config liveConfig) *liveSource {
	s := &liveSource{
		liveConfig: config, looked: make(chan struct{}, 1), news: make(chan struct{}, 1), published: make(chan struct{}),
	}
	s.link.source, s.list.source = s, s
	return s
}

// connectLive makes the clients of a source for the Jobs of set. The set's own client may be of one namespace or of all.
// logLines is how many last lines of logs belong to the evidence, 0 for none.
func connectLive(config *rest.Config, set jobSet, logLines int64, env environment) (*liveSource, error) {
	typed, err := newExplainer(config, env.now)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // Watches are few, and opened one after the other.
	all, err := newJobClient(config, "")
	if err != nil {
		return nil, err
	}
	return newLiveSource(liveConfig{set: set, jobs: all.in, client: typed.client, env: env, logLines: logLines}), nil
}

// run keeps up until the context ends, or until something that no retry mends: the first list of Jobs fails, none of the
// names that were asked for exists, Jobs may not be read. When it returns, all that it started has ended.
func (s *liveSource) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	s.group = group
	group.Go(guarded(func() error { return s.followJobs(ctx) }))
	group.Go(guarded(func() error { return s.attend(ctx) }))
	group.Go(guarded(func() error { return s.publishAll(ctx) }))
	err := group.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = err
	close(s.published)
	return err
}

// Look says what is looked at from now on.
func (s *liveSource) Look(f snapshot.Focus) {
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

// Next waits for a Snapshot with a Seq above seen, and returns the latest; after run its error.
func (s *liveSource) Next(ctx context.Context, seen uint64) (*snapshot.Snapshot, error) {
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

// touch asks for a Snapshot. s.mu is held.
func (s *liveSource) touch() {
	s.changed = true
	notify(s.news)
}

// notify leaves a note for whoever waits; one note is enough for any number of news.
func notify(news chan<- struct{}) {
	select {
	case news <- struct{}{}:
	default:
	}
}

// pause waits for d, or for news. The error is the context's.
func (s *liveSource) pause(ctx context.Context, d time.Duration, news <-chan struct{}) error {
	if d <= 0 {
		return ctx.Err()
	}
	beats, stop := s.env.ticks(d)
	defer stop()
	select {
	case <-beats:
	case <-news:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// liveTasks are goroutines that begin and end together.
type liveTasks struct {
	cancel  context.CancelFunc
	running *sync.WaitGroup
}

// start begins each of the tasks. What one returns before it was stopped ends the source.
func (t *liveTasks) start(ctx context.Context, group *errgroup.Group, tasks ...func(context.Context) error) {
	ctx, t.cancel = context.WithCancel(ctx)
	t.running = &sync.WaitGroup{}
	running := t.running
	for _, task := range tasks {
		running.Add(1)
		group.Go(guarded(func() error {
			defer running.Done()
			if err := task(ctx); ctx.Err() == nil {
				return err
			}
			return nil
		}))
	}
}

// stop returns when all have ended. It may be called again, or for tasks that never began.
func (t *liveTasks) stop() {
	if t.cancel != nil {
		t.cancel()
		t.running.Wait()
	}
}
