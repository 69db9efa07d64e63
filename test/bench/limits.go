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
	"strconv"
	"strings"
	"syscall"
	"time"
)

// qps is how many requests per second a controller may make, and how many at once.
type qps int

const unlimited qps = -1

func (q qps) flags() []string {
	if q == unlimited {
		return []string{"--kube-api-qps=-1"}
	}
	return []string{fmt.Sprintf("--kube-api-qps=%d", q), fmt.Sprintf("--kube-api-burst=%d", q)}
}

// limit restarts both controllers, with the same limit on their requests, and waits
// until both work. (Each controller of kube-controller-manager has a client, and so a
// limit, of its own.)
func (b *bench) limit(ctx context.Context, q qps) error {
	if b.launched.limit == q {
		return nil
	}
	progress("Both controllers start anew: at most %d requests per second, and %d at once", q, q)
	if err := b.restart(q); err != nil {
		return err
	}
	if err := b.launched.restartManager(b.processes[procManager], q); err != nil {
		return err
	}
	b.launched.limit = q
	b.processes[procManager] = b.launched.manager.pid()
	for _, s := range []side{ours, builtIn} {
		if _, err := b.latency(ctx, s, shape{20, true}); err != nil {
			return err
		}
	}
	return nil
}

// restart starts our controller again, with this limit.
func (b *bench) restart(q qps) error {
	if err := b.launched.controller.stop(); err != nil {
		return err
	}
	if err := b.launched.startController(q); err != nil {
		return err
	}
	b.processes[procOurs] = b.launched.controller.pid()
	return nil
}

// restartManager ends the cluster's kube-controller-manager, and starts it with the same
// flags but for its limits.
func (l *launched) restartManager(pid int, q qps) error {
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
	log, err := os.OpenFile(filepath.Join(l.dir, "manager.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(args[0], limitedArgs(args[1:], q)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	l.manager, err = startChild(procManager, cmd, func(c *child) { l.fail(fmt.Errorf("%s ended (%w)", c.name, c.err)) })
	return err
}

// limitedArgs replaces the limits. Nobody else runs, so that there is no lead to wait for.
func limitedArgs(args []string, q qps) []string {
	var out []string
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if name != "--kube-api-qps" && name != "--kube-api-burst" && name != "--leader-elect" {
			out = append(out, arg)
		}
	}
	return append(append(out, "--leader-elect=false"), q.flags()...)
}

// endProcess ends a process that is not our child, but the cluster tool's.
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

// managerMetrics is where kube-controller-manager serves its metrics, to anybody.
func managerMetrics(args []string) string {
	for _, arg := range args {
		if port, is := strings.CutPrefix(arg, "--secure-port="); is {
			return "https://127.0.0.1:" + port + "/metrics"
		}
	}
	return ""
}

// freeAddress is one on loopback that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// limitsLifted is nil if the built-in controller may make as many requests as it
// likes, or so many that it never waits on any machine we know.
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
