package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/batchjob-dev/kubectl-batchjob/test/leash"
)

// controller is a running kubectl-batchjob controller.
type controller struct {
	cmd    *exec.Cmd
	stderr leash.Output
	done   chan struct{}
}

// launch runs a controller with a Lease, and returns when it reconciles.
func (c *cluster) launch(ctx context.Context, args ...string) (*controller, error) {
	p := &controller{done: make(chan struct{})}
	p.cmd = exec.Command(filepath.Join(c.root, "bin", "kubectl-batchjob"), append([]string{
		"controller", "--kubeconfig", c.kubeconfig(), "--leader-elect", "--leader-elect-resource-namespace", leaseNamespace,
		"--metrics-bind-address", "127.0.0.1:0", "--metrics-secure=false", "--health-probe-bind-address", "127.0.0.1:0",
	}, args...)...)
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w; run: make build", err)
	}
	go func() {
		_ = p.cmd.Wait() // However it ends, it has.
		close(p.done)
	}()
	c.mu.Lock()
	c.controllers = append(c.controllers, p)
	c.mu.Unlock()
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		select {
		case <-p.done:
			return false, errors.New("it has ended")
		default:
			return strings.Contains(p.stderr.String(), "Reconciling Jobs"), nil
		}
	})
	if err != nil {
		return nil, fmt.Errorf("the controller does not start: %w\n%s", err, p.stderr.String())
	}
	return p, nil
}

// kill ends the controller as a crash would.
func (p *controller) kill() {
	_ = p.cmd.Process.Kill() // It may have ended.
	<-p.done
}
