package leader

import (
	"context"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
)

const (
	// groupLabel is on all Leases of a controller, with a hash of the name in Election.
	groupLabel = controller.AnnotationPrefix + "leases"
	// countLabel is how many shards there are, and shardLabel which one a Lease is for. A
	// Lease without is that of a replica.
	countLabel = controller.AnnotationPrefix + "shards"
	shardLabel = controller.AnnotationPrefix + "shard"
)

// Sharding divides the work among all processes of a controller (SHD-02). Each has a Lease of
// its own, which shows the others that it is alive, and runs an Election for each shard of
// its fair share. All of them compute the same shares from the same Leases: there is no
// coordinator.
type Sharding struct {
	// Election has what the Elections for the shards have in common. Its Name is the first
	// part of the names of all Leases.
	Election
	// Shards is how many there are, the same for all replicas. Those that have another number
	// take no shard while replicas with this one hold any (SHD-05).
	Shards int
	// Grace is how long a replica may hold an expired Lease before it is unhealthy.
	Grace time.Duration
	Clock clock.WithTicker

	mu sync.Mutex
	// running are the Elections in progress, by shard.
	running map[int]*candidacy
}

// candidacy is a shard's Election in progress.
type candidacy struct {
	stop     context.CancelFunc
	watchdog *Watchdog
}

// Run calls lead for every shard that this process is to work on, each in a goroutine of its
// own, until ctx is done or a lead returns an error. The context of a lead is canceled when
// the shard is to be another replica's; its Lease is released once lead has returned.
func (s *Sharding) Run(ctx context.Context, lead func(ctx context.Context, shard int) error) error {
	if s.Clock == nil {
		s.Clock = clock.RealClock{}
	}
	group, ctx := errgroup.WithContext(ctx)
	s.running = map[int]*candidacy{}
	r := newReplicas(s)
	start := func(i int) {
		ctx, stop := context.WithCancel(ctx)
		e := s.election(i)
		s.set(i, &candidacy{stop, e.Watchdog})
		group.Go(func() error {
			defer stop()
			defer s.set(i, nil)
			return e.Run(ctx, func(ctx context.Context) error { return lead(ctx, i) })
		})
	}
	ticker := s.Clock.NewTicker(s.RetryPeriod)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := r.look(ctx); err == nil {
			s.follow(ctx, r, start)
		} else if ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Cannot read the Leases of the replicas, will retry")
		}
		select {
		case <-ctx.Done():
		case <-ticker.C():
		}
	}
	// The others take over at once what is released from now on.
	r.leave(context.WithoutCancel(ctx))
	return group.Wait()
}

// follow ends the Elections for shards that another replica is to have, and begins those for
// shards that this one is to have and nobody holds.
func (s *Sharding) follow(ctx context.Context, r *replicas, start func(int)) {
	for i, replica := range r.assigned() {
		switch c := s.candidacy(i); {
		case c != nil && replica != s.Identity:
			c.stop()
		case c == nil && replica == s.Identity && r.free(ctx, i):
			start(i)
		}
	}
}

// election returns the Election for a shard.
func (s *Sharding) election(i int) Election {
	e := s.Election
	e.Name, e.labels = s.leaseName(strconv.Itoa(i)), leaseLabels(s.Name, s.Shards, strconv.Itoa(i))
	e.Watchdog = NewWatchdog(s.Grace)
	return e
}

func (s *Sharding) candidacy(i int) *candidacy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[i]
}

func (s *Sharding) set(i int, c *candidacy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == nil {
		delete(s.running, i)
	} else {
		s.running[i] = c
	}
}

// Check returns an error if this process holds an expired Lease, so that others may work on
// the shard too.
func (s *Sharding) Check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.running {
		if err := c.watchdog.Check(); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
	}
	return nil
}

// Validate checks the configuration. Errors make sense to users of the flags.
func (s *Sharding) Validate() error {
	if s.Shards < 1 || s.Shards > shard.Max {
		return fmt.Errorf("the number of shards must be 1 to %d, not %d", shard.Max, s.Shards)
	}
	e := s.Election
	e.Name = s.leaseName(fmt.Sprintf("%016x", 0))
	return e.Validate()
}

// leaseName returns NAME-SHARDS-PART: replicas with different numbers of shards never share
// a Lease.
func (s *Sharding) leaseName(part string) string {
	return fmt.Sprintf("%s-%d-%s", s.Name, s.Shards, part)
}

// leaseLabels are those of the Lease of a shard, or of a replica ("").
func leaseLabels(name string, shards int, index string) map[string]string {
	labels := map[string]string{groupLabel: hashOf(name), countLabel: strconv.Itoa(shards)}
	if index != "" {
		labels[shardLabel] = index
	}
	return labels
}

// hashOf makes a label of a text of any length.
func hashOf(text string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text))
	return fmt.Sprintf("%016x", hash.Sum64())
}
