package soak

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// soakLease is the duration of the controllers' Leases.
const soakLease = 3 * time.Second

// controllers manages the controllers that are killed again and again.
type controllers struct {
	t *testing.T
	// kubeconfig contains their certificate.
	kubeconfig string
	// calm reports whether a controller must start, and calls must succeed.
	calm func() bool
	// shards is the number of shards if all controllers work at the same time, otherwise 0.
	shards int
	// done ends the killing; killing waits for its end.
	done    chan struct{}
	killing sync.WaitGroup

	mu      sync.Mutex
	members []*testcluster.Process
	// size is the intended number of controllers.
	size int
	// The numbers of controllers that were killed, ended with SIGTERM, and restarted only after a while.
	killed, ended int
	away          int
}

func newControllers(t *testing.T, kubeconfig string, calm func() bool) *controllers {
	return &controllers{t: t, kubeconfig: kubeconfig, calm: calm, shards: shardCount(t)}
}

// work runs the given number of controllers, of which one works at a time, and begins to kill the working one again and
// again, until rest or work is called. With shards, there are three controllers, all working, and it kills one after the
// other.
func (c *controllers) work(size int) {
	c.rest()
	if c.shards > 0 {
		size = 3
	}
	if c.size != size {
		c.stop()
		c.resize(size)
		for range size {
			c.launch()
		}
	}
	done := make(chan struct{})
	c.done = done
	c.killing.Go(func() { c.kill(done) })
}

func (c *controllers) resize(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size = size
}

func (c *controllers) elect() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size > 1
}

// rest stops the killing. The controllers continue to work.
func (c *controllers) rest() {
	if c.done != nil {
		close(c.done)
		c.done = nil
	}
	c.killing.Wait()
}

func (c *controllers) kills() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed + c.ended
}

// shardCount returns SOAK_SHARDS: the number of shards that three controllers share, or 0.
func shardCount(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("SOAK_SHARDS"), "0"))
	assert.NoError(t, err, "SOAK_SHARDS")
	return n
}

// launch adds a controller. Several controllers elect a leader with a short Lease. A controller that fails to start
// during a trouble is started again, as in a Deployment.
func (c *controllers) launch() { c.launchProgram(cluster.Binary) }

func (c *controllers) launchProgram(program string, environment ...string) *testcluster.Process {
	args := []string{"--managed-by", soakName, "--kubeconfig", c.kubeconfig}
	if c.shards > 0 {
		args = append(args, "--shards", strconv.Itoa(c.shards), "--leader-elect-resource-namespace", testcluster.SystemNamespace)
	}
	if c.elect() {
		args = append(args, "--leader-elect", "--leader-elect-lease-duration", soakLease.String(), "--leader-elect-renew-deadline", "2s", "--leader-elect-retry-period", "500ms")
	}
	p, err := cluster.Launch(c.t.Context(), program, environment, args...)
	for err != nil && !c.calm() {
		pause(c.t.Context(), time.Second)
		p, err = cluster.Launch(c.t.Context(), program, environment, args...)
	}
	if err != nil {
		c.t.Error(err)
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = append(c.members, p)
	return p
}

// replace kills the leader, and starts a controller of any program. It returns nil if there is no leader now.
func (c *controllers) replace(program string, environment ...string) *testcluster.Process {
	victim := c.leader()
	if victim == nil {
		return nil
	}
	c.end(victim, false)
	c.count(false)
	return c.launchProgram(program, environment...)
}

// remove removes a controller from the list, and reports whether it was still there.
func (c *controllers) remove(p *testcluster.Process) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.members, p)
	if i >= 0 {
		c.members = slices.Delete(c.members, i, i+1)
	}
	return i >= 0
}

// kill ends the working controller every killEvery, by SIGKILL or SIGTERM, and replaces it.
func (c *controllers) kill(done chan struct{}) {
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
			continue // The leader is changing.
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
		c.launch()
	}
}

// leader removes the leader from the list, and returns it.
func (c *controllers) leader() *testcluster.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range c.members {
		if len(c.members) == 1 || c.shards > 0 || metrics(c.t, p)["leader_election_master_status"] == 1 {
			c.members = slices.Delete(c.members, i, i+1)
			return p
		}
	}
	return nil
}

// end ends a controller, and reports an error if it does not end properly.
func (c *controllers) end(p *testcluster.Process, politely bool) {
	select {
	case <-p.Done:
		c.t.Errorf("a controller has ended by itself:\n%s", p.Stderr.String())
	default:
	}
	if !politely {
		p.Kill()
		return
	}
	if code, err := p.End(); err != nil || code != 0 {
		c.t.Errorf("SIGTERM ends a controller with %d, %v:\n%s", code, err, p.Stderr.String())
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

// stop ends all controllers with SIGTERM.
func (c *controllers) stop() {
	c.rest()
	c.mu.Lock()
	members := c.members
	c.members, c.size = nil, 0
	c.mu.Unlock()
	for _, p := range members {
		c.end(p, true)
	}
}
