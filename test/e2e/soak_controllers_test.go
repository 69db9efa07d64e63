//go:build soak

package e2e

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// soakLease is how long their Leases last.
const soakLease = 3 * time.Second

// controllers are the controllers that are killed again and again.
type controllers struct {
	t *testing.T
	// kubeconfig has their certificate.
	kubeconfig string
	// calm reports whether a controller has to start, and calls have to succeed.
	calm func() bool
	// shards is how many there are if all are at work, otherwise 0.
	shards int
	// done ends the killing, which waits for it.
	done    chan struct{}
	killing sync.WaitGroup

	mu      sync.Mutex
	members []*process
	// size is how many there are to be.
	size int
	// How often one was killed, or asked to end, and away for a while.
	killed, ended int
	away          int
}

func newControllers(t *testing.T, kubeconfig string, calm func() bool) *controllers {
	return &controllers{t: t, kubeconfig: kubeconfig, calm: calm, shards: shardCount(t)}
}

// work has so many controllers at work, one of them at a time, and begins to kill it
// again and again, until rest or work is called. With shards, there are three, all of them at
// work, and it kills one after the other.
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

// rest ends the killing. Controllers are at work from then on.
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

// shardCount is SOAK_SHARDS: 0, or into how many shards three controllers divide the work.
func shardCount(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("SOAK_SHARDS"), "0"))
	if err != nil {
		t.Fatalf("SOAK_SHARDS: %v", err)
	}
	return n
}

// launch adds a controller. More than one elect a leader, with a Lease that is short. One that
// cannot start while something is wrong is started again, as a Deployment does.
func (c *controllers) launch() *process { return c.launchProgram(binary) }

func (c *controllers) launchProgram(program string, environment ...string) *process {
	args := []string{"--managed-by", soakName, "--kubeconfig", c.kubeconfig}
	if c.shards > 0 {
		args = append(args, "--shards", strconv.Itoa(c.shards), "--leader-elect-resource-namespace", systemNamespace)
	}
	if c.elect() {
		args = append(args, "--leader-elect", "--leader-elect-lease-duration", soakLease.String(), "--leader-elect-renew-deadline", "2s", "--leader-elect-retry-period", "500ms")
	}
	p, err := launchProgram(c.t.Context(), program, environment, args...)
	for err != nil && !c.calm() {
		pause(c.t.Context(), time.Second)
		p, err = launchProgram(c.t.Context(), program, environment, args...)
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

// replace kills one of them, and starts another one, of any program. It returns nil if there is
// no leader now.
func (c *controllers) replace(program string, environment ...string) *process {
	victim := c.leader()
	if victim == nil {
		return nil
	}
	c.end(victim, false)
	c.count(false)
	return c.launchProgram(program, environment...)
}

// remove removes one from the controllers, and reports whether it was still there.
func (c *controllers) remove(p *process) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.members, p)
	if i >= 0 {
		c.members = slices.Delete(c.members, i, i+1)
	}
	return i >= 0
}

// kill ends the one at work every killEvery, as a crash would or as SIGTERM does, and
// replaces it.
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
		c.launch()
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

// stop asks all to end.
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
