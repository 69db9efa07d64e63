//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// restartManager restarts kube-controller-manager with these flags replaced, and waits until it works.
func (b *bench) restartManager(ctx context.Context, flags ...string) error {
	if err := b.launched.restartManager(b.processes[procManager], flags...); err != nil {
		return err
	}
	b.processes[procManager] = b.launched.manager.pid()
	_, err := b.latency(ctx, builtIn, shape{20, true})
	return err
}

// restartManager ends the cluster's kube-controller-manager and starts it again, with these flags replaced.
func (l *launched) restartManager(pid int, flags ...string) error {
	args := commandLine(fmt.Sprintf("/proc/%d/cmdline", pid))
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return fmt.Errorf("looking for kube-controller-manager: %w", err)
	}
	if len(args) == 0 {
		return fmt.Errorf("kube-controller-manager (process %d) has ended", pid)
	}
	if l.manager != nil {
		err = l.manager.stop()
	} else {
		err = endProcess(pid)
	}
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(l.Dir, "manager.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(args[0], managerArgs(args[1:], flags...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	l.manager, err = startChild(procManager, cmd, func(c *child) { l.fail(fmt.Errorf("%s ended (%w)", c.name, c.err)) })
	return err
}

// managerArgs adds flags to the arguments and drops the old values. Leader election is off, as there is only one
// process.
func managerArgs(args []string, flags ...string) []string {
	flags = append([]string{"--leader-elect=false"}, flags...)
	name := func(flag string) string { name, _, _ := strings.Cut(flag, "="); return name }
	var out []string
	for _, arg := range args {
		if !slices.ContainsFunc(flags, func(flag string) bool { return name(flag) == name(arg) }) {
			out = append(out, arg)
		}
	}
	return append(out, flags...)
}

// endProcess ends a process that is a child of the cluster tool, not of this process.
func endProcess(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return err
	}
	for range 100 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || commandLine(fmt.Sprintf("/proc/%d/cmdline", pid)) == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("process %d does not end", pid)
}

// freeAddress returns an unused loopback address.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// limitsLifted returns nil if the built-in controller's rate limit is off, or so high that it never waits on any known
// machine.
func limitsLifted(args []string) error {
	const plenty = 1000
	for _, flag := range []string{"--kube-api-qps", "--kube-api-burst"} {
		var value string
		for _, arg := range args {
			if name, v, _ := strings.Cut(arg, "="); name == flag {
				value = v
			}
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || n >= 0 && n < plenty {
			return fmt.Errorf("kube-controller-manager runs with %s=%s, which slows it down: no fair comparison", flag, value)
		}
	}
	return nil
}
