//go:build builtin

package beside

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/apiserver"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

const (
	namespace = "beside"
	// sharedNode is the node of all pairs without a node of their own.
	sharedNode = "shared"
)

// managers are the values of managedBy, by runner; builtIn is the built-in controller's.
var managers = map[runner]string{
	steady: "beside.example.com/steady", crashing: "beside.example.com/crashing", elected: "beside.example.com/elected", sharded: "beside.example.com/sharded",
}

const builtIn = ""

// cluster is a control plane with both controllers.
type cluster struct {
	server *apiserver.Server
	client kubernetes.Interface
	view   *view
	pulses map[string]*pulse

	binary, kubeconfig string
	builtin            *os.Process
	builtinLog         *leash.Output
	builtinEnded       chan struct{}

	// unsettled is held for reading while the states of a pair differ, and for writing by restarts: a controller that is
	// restarted again and again would never do what it does after 30 s.
	unsettled map[runner]*sync.RWMutex

	mu sync.Mutex
	// ours are the processes of our controller, the oldest first.
	ours map[runner][]*leash.Controller
}

func startCluster(ctx context.Context, root string) (c *cluster, err error) {
	c = &cluster{
		ours: map[runner][]*leash.Controller{}, pulses: map[string]*pulse{},
		unsettled: map[runner]*sync.RWMutex{steady: {}, crashing: {}, elected: {}, sharded: {}},
	}
	if c.binary, err = leash.Binary(root, "BATCHJOB_BESIDE_BINARY"); err != nil {
		return c, err
	}
	if c.server, err = apiserver.Start(root, ""); err != nil {
		return c, err
	}
	config := rest.CopyConfig(c.server.Config)
	config.QPS, config.Burst = -1, 0
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return c, err
	}
	dir, err := os.MkdirTemp("", "batchjob-beside-")
	if err != nil {
		return c, err
	}
	c.kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(c.kubeconfig, c.server.Kubeconfig, 0o600); err != nil {
		return c, err
	}
	if _, err := c.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		return c, err
	}
	if err := c.addNode(ctx, sharedNode); err != nil {
		return c, err
	}
	if err := c.startBuiltin(); err != nil {
		return c, err
	}
	for r, n := range map[runner]int{steady: 1, crashing: 1, elected: 2, sharded: 2} {
		for range n {
			if err := c.startOurs(ctx, r); err != nil {
				return c, err
			}
		}
	}
	if c.view, err = newView(ctx, c.client); err != nil {
		return c, err
	}
	for _, manager := range append(slices.Collect(maps.Values(managers)), builtIn) {
		if c.pulses[manager], err = newPulse(ctx, c, manager, fmt.Sprintf("pulse-%d", len(c.pulses))); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *cluster) addNode(ctx context.Context, name string) error {
	_, err := c.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

// startBuiltin starts the controllers of kube-controller-manager that Jobs and their pods need.
func (c *cluster) startBuiltin() error {
	program := filepath.Join(c.server.Binaries, "kube-controller-manager")
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("%w; run: make controlplane", err)
	}
	cmd := leash.Command(program,
		"--kubeconfig="+c.kubeconfig,
		"--controllers=job-controller,garbage-collector-controller,pod-garbage-collector-controller",
		"--leader-elect=false", "--secure-port=0", "--terminated-pod-gc-threshold=0",
		"--concurrent-job-syncs=50", "--kube-api-qps=500", "--kube-api-burst=500",
	)
	c.builtinLog, c.builtinEnded = &leash.Output{}, make(chan struct{})
	cmd.Stdout, cmd.Stderr = c.builtinLog, c.builtinLog
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting kube-controller-manager: %w", err)
	}
	c.builtin = cmd.Process
	go func() {
		defer close(c.builtinEnded)
		_ = cmd.Wait() // It reports the signal that stopped it.
	}()
	return nil
}

// startOurs starts a process of our controller.
func (c *cluster) startOurs(ctx context.Context, r runner) error {
	args := []string{"--managed-by", managers[r], "--namespaces", namespace}
	if r == elected || r == sharded {
		// The Lease of a leader that crashes would expire soon, and a busy leader may lose it: both are allowed.
		args = append(args, "--leader-elect", "--leader-elect-resource-namespace", namespace,
			"--leader-elect-lease-duration=8s", "--leader-elect-renew-deadline=5s", "--leader-elect-retry-period=500ms")
	}
	if r == sharded { // The namespace moves to another process if that gets its shard.
		args = append(args, "--shards=2")
	}
	p, err := leash.StartController(ctx, c.binary, c.kubeconfig, nil, args...)
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
	if c.builtin != nil {
		if err := c.builtin.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			problem = err
		}
		<-c.builtinEnded
	}
	if c.kubeconfig != "" {
		problem = errors.Join(problem, os.RemoveAll(filepath.Dir(c.kubeconfig)))
	}
	if c.server != nil {
		problem = errors.Join(problem, c.server.Stop())
	}
	return problem
}

// dead returns an error if a controller has ended by itself.
func (c *cluster) dead() error {
	select {
	case <-c.builtinEnded:
		return fmt.Errorf("kube-controller-manager has ended:\n%s", c.builtinLog)
	default:
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
