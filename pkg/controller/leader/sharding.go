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
)

const (
	// groupLabel is on all Leases of a controller; its value is a hash of Election.Name.
	groupLabel = controller.AnnotationPrefix + "leases"
	// countLabel is the number of shards, and shardLabel is the shard that a Lease is for. A Lease without shardLabel is
	// the Lease of a replica.
	countLabel = controller.AnnotationPrefix + "shards"
	shardLabel = controller.AnnotationPrefix + "shard"
)

// Sharding divides the work among all processes of a controller (SHD-02). Each process has a Lease that shows the
// others that it is alive, and runs an Election for each shard of its fair share. All processes compute the same shares
// from the same Leases: there is no coordinator.
type Sharding struct {
	// Election has the settings that the Elections for the shards have in common. Its Name is the prefix of the names of
	// all Leases.
	Election
	// Shards is the number of shards, the same for all replicas. Replicas with another number take no shard while
	// replicas with this number hold any (SHD-05).
	Shards int
	// Grace is how long a replica may hold an expired Lease before it counts as unhealthy.
	Grace time.Duration
	Clock clock.WithTicker

	mu sync.Mutex
	// running holds the Elections in progress, by shard.
	running map[int]*candidacy
}

// candidacy is a shard's Election in progress.
type candidacy struct {
	stop     context.CancelFunc
	watchdog *Watchdog
}

// Run calls lead for every shard that this process is to work on, each in its own goroutine, until ctx is done or a
// lead returns an error. The context of a lead is canceled when its shard is assigned to another replica; the Lease is
// released once lead has returned.
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
	// The other replicas take over at once the shards that are released from now on.
	r.leave(context.WithoutCancel(ctx))
	return group.Wait()
}

// follow ends the Elections for shards that are assigned to another replica, and begins the Elections for shards that
// are assigned to this replica and have no holder.
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

// Check returns an error if this process holds an expired Lease, so that other replicas may also be working on the
// shard.
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

// leaseName returns NAME-SHARDS-PART: replicas with different numbers of shards never share
// a Lease.
func (s *Sharding) leaseName(part string) string {
	return fmt.Sprintf("%s-%d-%s", s.Name, s.Shards, part)
}

// leaseLabels returns the labels of the Lease of a shard, or of a replica if index is "".
func leaseLabels(name string, shards int, index string) map[string]string {
	labels := map[string]string{groupLabel: hashOf(name), countLabel: strconv.Itoa(shards)}
	if index != "" {
		labels[shardLabel] = index
	}
	return labels
}

// hashOf returns a hash of a text of any length, as a label value.
func hashOf(text string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text))
	return fmt.Sprintf("%016x", hash.Sum64())
}
