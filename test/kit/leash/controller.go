//go:build unix

package leash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// patience is the time limit for a controller to be ready, and for a controller to end.
const patience = 5 * time.Minute

// Controller is a running kubectl-batchjob controller that ends with the test process.
type Controller struct {
	Args   []string
	Stderr Output
	// Done is closed when the controller has ended.
	Done chan struct{}
	cmd  *exec.Cmd
}

// StartController runs kubectl-batchjob's verb controller on free ports, with additional environment variables.
func StartController(ctx context.Context, binary, kubeconfig string, environment []string, args ...string) (*Controller, error) {
	return Start(ctx, binary, environment, append([]string{
		"controller", "--kubeconfig", kubeconfig,
		"--metrics-bind-address", "127.0.0.1:0", "--metrics-secure=false", "--health-probe-bind-address", "127.0.0.1:0",
	}, args...)...)
}

// Start runs a controller and returns once it logs that it reconciles Jobs. The context limits only that wait.
func Start(ctx context.Context, program string, environment []string, args ...string) (*Controller, error) {
	c := &Controller{Args: args, Done: make(chan struct{}), cmd: Command(program, args...)}
	c.cmd.Env = append(os.Environ(), environment...)
	c.cmd.Stderr = &c.Stderr
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = c.cmd.Wait() // End returns the exit code.
		close(c.Done)
	}()
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		select {
		case <-c.Done:
			return false, errors.New("it has ended")
		default:
			return strings.Contains(c.Stderr.String(), "Reconciling Jobs"), nil
		}
	})
	if err != nil {
		c.Kill()
		return nil, fmt.Errorf("the controller does not start: %w\n%s", err, c.Stderr.String())
	}
	return c, nil
}

// End sends SIGTERM to the controller and returns its exit code.
func (c *Controller) End() (int, error) {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return -1, err
	}
	select {
	case <-c.Done:
		return c.cmd.ProcessState.ExitCode(), nil
	case <-time.After(patience):
		return -1, errors.New("the controller does not end")
	}
}

// Kill kills the controller, as in a crash.
func (c *Controller) Kill() {
	_ = c.cmd.Process.Kill() // It may have ended.
	<-c.Done
}
