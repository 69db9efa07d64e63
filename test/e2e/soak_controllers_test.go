//go:build soak

package e2e

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
)

// controllers are the controllers that are killed again and again.
type controllers struct {
	t *testing.T
	// shards is how many there are if all are at work, otherwise 0.
	shards int
	// done ends the killing, which waits for it.
	done    chan struct{}
	killing sync.WaitGroup

	mu      sync.Mutex
	members []*process
	// How often one was killed, or asked to end, and away for a while.
	killed, ended int
	away          int
}

func newControllers(t *testing.T) *controllers {
	return &controllers{t: t, shards: soakShards(t)}
}

// work has so many controllers at work, one of them at a time, and begins to kill it
// again and again, until rest or work is called. With shards, there are three, all of them at
// work, and it kills one after the other.
func (c *controllers) work(size int) {
	c.rest()
	if c.shards > 0 {
		size = 3
	}
	if len(c.now()) != size {
		c.stop()
		for range size {
			c.launch(size)
		}
	}
	done := make(chan struct{})
	c.done = done
	c.killing.Go(func() { c.kill(size, done) })
}

// rest ends the killing. Controllers are at work from then on.
func (c *controllers) rest() {
	if c.done != nil {
		close(c.done)
		c.done = nil
	}
	c.killing.Wait()
}

func (c *controllers) now() []*process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.members)
}

func (c *controllers) kills() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed + c.ended
}

// soakShards is SOAK_SHARDS: 0, or into how many shards three controllers divide the work.
func soakShards(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("SOAK_SHARDS"), "0"))
	if err != nil {
		t.Fatalf("SOAK_SHARDS: %v", err)
	}
	return n
}

// launch adds a controller. More than one elect a leader, with a Lease that is short.
func (c *controllers) launch(size int) {
	args := []string{"--managed-by", soakName}
	if c.shards > 0 {
		// The account of config/default may not see the Leases of others.
		args = append(args, "--shards", strconv.Itoa(c.shards), "--kubeconfig", kubeconfig, "--leader-elect-resource-namespace", systemNamespace)
	}
	if size > 1 {
		args = append(args, "--leader-elect", "--leader-elect-lease-duration", "3s", "--leader-elect-renew-deadline", "2s", "--leader-elect-retry-period", "500ms")
	}
	p, err := launch(args...)
	if err != nil {
		c.t.Error(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = append(c.members, p)
}

// kill ends the one at work every killEvery, as a crash would or as SIGTERM does, and
// replaces it.
func (c *controllers) kill(size int, done chan struct{}) {
	next := time.NewTicker(killEvery)
	defer next.Stop()
	for n := c.kills() + 1; ; n++ {
		select {
		case <-next.C:
		case <-done:
			return
		}
		victim := c.leader()
		if victim == nil {
			continue // The lead is changing hands.
		}
		c.end(victim, n%3 == 0)
		c.count(n%3 == 0)
		if n%5 == 0 {
			c.away++
			select {
			case <-time.After(stayAway):
			case <-done:
			}
		}
		c.launch(size)
	}
}

// leader removes the leader from the controllers, and returns it.
func (c *controllers) leader() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range c.members {
		if len(c.members) == 1 || c.shards > 0 || p.metric(c.t, "leader_election_master_status") == 1 {
			c.members = slices.Delete(c.members, i, i+1)
			return p
		}
	}
	return nil
}

// end ends a controller, and tells if it does not end well.
func (c *controllers) end(p *process, politely bool) {
	select {
	case <-p.done:
		c.t.Errorf("a controller has ended by itself:\n%s", p.stderr.String())
	default:
	}
	if !politely {
		p.kill()
		return
	}
	if code, err := p.end(); err != nil || code != 0 {
		c.t.Errorf("SIGTERM ends a controller with %d, %v:\n%s", code, err, p.stderr.String())
	}
}

func (c *controllers) count(politely bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if politely {
		c.ended++
	} else {
		c.killed++
	}
}

// stop asks all to end.
func (c *controllers) stop() {
	c.rest()
	for _, p := range c.now() {
		c.end(p, true)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = nil
}

// failovers is how often the lead, or a shard, has changed hands.
func (c *controllers) failovers() (n int) {
	leases, err := client.CoordinationV1().Leases(systemNamespace).List(c.t.Context(), metav1.ListOptions{LabelSelector: "batchjob.dev/shard"})
	if err != nil {
		c.t.Errorf("reading the Leases: %v", err)
		return 0
	}
	for _, lease := range leases.Items {
		if strings.HasPrefix(lease.Name, leader.LeaseName(soakName)) {
			n += int(ptr.Deref(lease.Spec.LeaseTransitions, 0))
		}
	}
	return n
}
