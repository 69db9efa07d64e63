//go:build unix

package troubles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// The components that hack/controlplane starts.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Nodes             = "kwok-controller"
)

// patience is the time limit for a component to end.
const patience = 5 * time.Minute

// Components are the processes of a control plane, which can be stopped and started. Keep restarts those that end by
// themselves, as the kubelet does with static pods.
type Components struct {
	dir  string
	logs string

	mu   sync.Mutex
	args map[string][]string
	// away holds the components that Keep does not start.
	away map[string]bool
}

// FindComponents finds the processes whose programs are below dir. Their output is written to logs.
func FindComponents(dir, logs string, names ...string) (*Components, error) {
	c := &Components{dir: dir, logs: logs, args: map[string][]string{}, away: map[string]bool{}}
	for _, name := range names {
		_, args, err := find(dir, name)
		if err != nil {
			return nil, err
		}
		c.args[name] = args
	}
	return c, nil
}

// find returns the process of a program below dir, and its command line.
func find(dir, name string) (pid int, args []string, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return 0, nil, err
	}
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil {
			continue // It has ended.
		}
		args := strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00")
		if strings.HasPrefix(args[0], dir+string(filepath.Separator)) && filepath.Base(args[0]) == name {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid, args, err
		}
	}
	return 0, nil, fmt.Errorf("there is no process %s", name)
}

// pid returns the process id of a component, or 0.
func (c *Components) pid(name string) int {
	pid, _, err := find(c.dir, name)
	if err != nil {
		return 0
	}
	return pid
}

// hasEnded reports whether a process has released all resources, such as its port. An ending process has no command line
// any more, and its first thread may end before others.
func hasEnded(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	_, state, _ := strings.Cut(string(text), ") ")
	return err != nil || strings.HasPrefix(state, "Z") && len(threads) <= 1
}

// Flag returns the value of a component's flag, or "".
func (c *Components) Flag(name, flag string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, arg := range c.args[name] {
		if value, found := strings.CutPrefix(arg, "--"+flag+"="); found {
			return value
		}
	}
	return ""
}

// Stop ends a component with a signal, and returns when the process is gone.
func (c *Components) Stop(ctx context.Context, name string, signal syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away[name] = true
	pid := c.pid(name)
	if pid == 0 {
		return nil // It has ended by itself.
	}
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("ending %s: %w", name, err)
	}
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return hasEnded(pid), nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the end of %s: %w", name, err)
	}
	return nil
}

// Start starts a component with additional flags, which replace its flags of the same name.
func (c *Components) Start(name string, flags ...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.away, name)
	return c.run(name, flags...)
}

// Restart kills a component and starts it with additional flags, which it keeps.
func (c *Components) Restart(ctx context.Context, name string, flags ...string) error {
	if err := c.Stop(ctx, name, syscall.SIGKILL); err != nil {
		return err
	}
	c.mu.Lock()
	c.args[name] = slices.Concat(c.args[name], flags)
	c.mu.Unlock()
	return c.Start(name)
}

func (c *Components) run(name string, flags ...string) error {
	log, err := os.OpenFile(filepath.Join(c.logs, name+".log"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	args := slices.Concat(c.args[name], flags)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the test, which removes the cluster.
	if err := cmd.Start(); err != nil {
		return errors.Join(err, log.Close())
	}
	go func() {
		_ = cmd.Wait() // Its log has the reason.
		_ = log.Close()
	}()
	return nil
}

// Keep starts components that have ended by themselves, until ctx ends.
func (c *Components) Keep(ctx context.Context, report func(name string)) {
	wait.UntilWithContext(ctx, func(context.Context) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for name := range c.args {
			if c.away[name] || c.pid(name) != 0 {
				continue
			}
			report(name)
			_ = c.run(name) // It is retried in a second.
		}
	}, time.Second)
}
