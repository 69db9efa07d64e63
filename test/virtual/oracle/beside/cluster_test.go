//go:build builtin

package beside

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

const (
	// namespace is where both controllers run beside each other; replacedNamespace is in a control plane of its own, in which
	// ours replaces the built-in one.
	namespace, replacedNamespace = "beside", "replaced"
	// sharedNode is the node of all pairs without a node of their own.
	sharedNode = "shared"
)

// managers are the values of managedBy, by runner; builtIn is the built-in controller's.
var managers = map[runner]string{
	steady: "beside.example.com/steady", crashing: "beside.example.com/crashing", elected: "beside.example.com/elected", sharded: "beside.example.com/sharded",
	replacing: batchv1.JobControllerName,
}

const builtIn = ""

// namespaceOf returns the namespace of the Jobs of a runner.
func namespaceOf(r runner) string {
	if r == replacing {
		return replacedNamespace
	}
	return namespace
}

// cluster is a control plane with both controllers, and one with ours alone.
type cluster struct {
	planes map[string]*plane // by namespace
	view   *view
	pulses map[string]*pulse // by manager
	binary string

	// unsettled is held for reading while the states of a pair differ, and for writing by restarts: a controller that is
	// restarted again and again would never do what it does after 30 s.
	unsettled map[runner]*sync.RWMutex

	mu sync.Mutex
	// ours are the processes of our controller, the oldest first.
	ours map[runner][]*leash.Controller
}

func startCluster(ctx context.Context, root string) (c *cluster, err error) {
	c = &cluster{
		planes: map[string]*plane{}, ours: map[runner][]*leash.Controller{}, pulses: map[string]*pulse{},
		unsettled: map[runner]*sync.RWMutex{steady: {}, crashing: {}, elected: {}, sharded: {}, replacing: {}},
	}
	if c.binary, err = leash.Binary(root, "BATCHJOB_BESIDE_BINARY"); err != nil {
		return c, err
	}
	for ns, controllers := range map[string]string{namespace: "job-controller," + collectors, replacedNamespace: collectors} {
		c.planes[ns] = &plane{}
		if err := c.planes[ns].start(ctx, root, ns, controllers); err != nil {
			return c, err
		}
	}
	if err := c.addNode(ctx, sharedNode); err != nil {
		return c, err
	}
	for r, n := range map[runner]int{steady: 1, crashing: 1, elected: 2, sharded: 2, replacing: 1} {
		for range n {
			if err := c.startOurs(ctx, r); err != nil {
				return c, err
			}
		}
	}
	if c.view, err = newView(ctx, c.planes); err != nil {
		return c, err
	}
	for r, manager := range managers {
		if c.pulses[manager], err = newPulse(ctx, c, manager, namespaceOf(r), fmt.Sprintf("pulse-%d", r)); err != nil {
			return c, err
		}
	}
	c.pulses[builtIn], err = newPulse(ctx, c, builtIn, namespace, "pulse-built-in")
	return c, err
}

// addNode adds a node to both control planes.
func (c *cluster) addNode(ctx context.Context, name string) error {
	for _, p := range c.planes {
		if _, err := p.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) deleteNode(ctx context.Context, name string) error {
	for _, p := range c.planes {
		if err := p.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) jobs(ns string) batchclient.JobInterface {
	return c.planes[ns].client.BatchV1().Jobs(ns)
}

func (c *cluster) pods(ns string) coreclient.PodInterface {
	return c.planes[ns].client.CoreV1().Pods(ns)
}

// startOurs starts a process of our controller.
func (c *cluster) startOurs(ctx context.Context, r runner) error {
	ns := namespaceOf(r)
	args := []string{"--managed-by", managers[r], "--namespaces", ns}
	if r == replacing {
		args = []string{"--replace-builtin", "--namespaces", ns}
	}
	if r == elected || r == sharded {
		// The Lease of a leader that crashes would expire soon, and a busy leader may lose it: both are allowed.
		args = append(args, "--leader-elect", "--leader-elect-resource-namespace", namespace,
			"--leader-elect-lease-duration=8s", "--leader-elect-renew-deadline=5s", "--leader-elect-retry-period=500ms")
	}
	if r == sharded { // The namespace moves to another process if that gets its shard.
		args = append(args, "--shards=2")
	}
	p, err := leash.StartController(ctx, c.binary, c.planes[ns].kubeconfig, nil, args...)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ours[r] = append(c.ours[r], p)
	return nil
}

// take removes the oldest process of a runner from the list.
func (c *cluster) take(r runner) *leash.Controller {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.ours[r][0]
	c.ours[r] = c.ours[r][1:]
	return p
}

// crash kills the process that steps may kill, and starts another.
func (c *cluster) crash(ctx context.Context) error {
	c.unsettled[crashing].Lock()
	defer c.unsettled[crashing].Unlock()
	c.take(crashing).Kill()
	return c.startOurs(ctx, crashing)
}

// handOver ends the older of two candidates, which is the leader unless it has lost its Lease, and starts another.
func (c *cluster) handOver(ctx context.Context, r runner) error {
	c.unsettled[r].Lock()
	defer c.unsettled[r].Unlock()
	if _, err := c.take(r).End(); err != nil {
		return err
	}
	return c.startOurs(ctx, r)
}

// stop ends all processes.
func (c *cluster) stop() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, processes := range c.ours {
		for _, p := range processes {
			p.Kill()
		}
	}
	var problem error
	for _, p := range c.planes {
		problem = errors.Join(problem, p.stop())
	}
	return problem
}

// dead returns an error if a controller has ended by itself.
func (c *cluster) dead() error {
	for _, p := range c.planes {
		select {
		case <-p.ended:
			return fmt.Errorf("kube-controller-manager has ended:\n%s", p.log)
		default:
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, processes := range c.ours {
		for _, p := range processes {
			select {
			case <-p.Done:
				return fmt.Errorf("our controller has ended:\n%s", p.Stderr.String())
			default:
			}
		}
	}
	return nil
}

// answered reports whether a controller has reacted to a pulse that began after t.
func (c *cluster) answered(manager string, t time.Time) bool {
	return c.pulses[manager].answered().After(t)
}
