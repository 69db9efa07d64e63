//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// child is a child process with a goroutine that waits for its end. err is valid once ended is closed.
type child struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{}
	err   error
	// wanted is true once the process was asked to end.
	wanted atomic.Bool
}

// startChild starts a process in its own process group, so that Ctrl-C does not reach it directly. unexpected is called
// if it ends without being asked to.
func startChild(name string, cmd *exec.Cmd, unexpected func(*child)) (*child, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	c := &child{name: name, cmd: cmd, ended: make(chan struct{})}
	go func() {
		c.err = cmd.Wait()
		close(c.ended)
		if !c.wanted.Load() {
			unexpected(c)
		}
	}()
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) stop() error {
	if c == nil {
		return nil
	}
	c.wanted.Store(true)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = c.cmd.Process.Signal(signal) // it may have ended already
		select {
		case <-c.ended:
			return nil
		case <-time.After(10 * time.Second):
		}
	}
	return fmt.Errorf("%s (process %d) does not end", c.name, c.pid())
}
