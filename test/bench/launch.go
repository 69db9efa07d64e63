//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// launched is the cluster and our controller, with all of their files below dir.
type launched struct {
	dir        string
	root       string // the project's
	keep       bool
	controller *child
}

func (l *launched) cluster() string    { return filepath.Join(l.dir, "cluster") }
func (l *launched) kubeconfig() string { return filepath.Join(l.cluster(), "kubeconfig") }
func (l *launched) log() string        { return filepath.Join(l.dir, "controller.log") }

// launch starts the cluster, then our controller. What it returns is to be
// stopped, also when there is an error.
func launch(ctx context.Context, o options) (*launched, error) {
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("our program is not there (%w): build it, or name it with --binary", err)
	}
	root, err := projectRoot()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "batchjob-bench-")
	if err != nil {
		return nil, err
	}
	l := &launched{dir: dir, root: root, keep: o.keep}
	// Two nodes: the templates name one, the other is what pods would wrongly get.
	if err := l.tool(ctx, "up", "--nodes", "2"); err != nil {
		return l, err
	}
	return l, l.startController(binary, o.controllerArgs)
}

// projectRoot is the nearest folder up from here that has the cluster tool.
func projectRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "hack", "controlplane", "main.go")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("not inside the project: hack/controlplane is in no folder above this one")
		}
	}
}

// tool runs the cluster tool. It has a process group of its own, so that Ctrl-C
// ends it only through ctx and never while it removes the cluster.
func (l *launched) tool(ctx context.Context, verb string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"-C", "hack/controlplane", "run", ".", verb, "--dir", l.cluster()}, args...)...)
	cmd.Dir, cmd.Stderr = l.root, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cluster tool, %s: %w", verb, err)
	}
	return nil
}

func (l *launched) startController(binary string, args []string) error {
	log, err := os.Create(l.log())
	if err != nil {
		return err
	}
	defer log.Close()
	args = append([]string{"controller", "--kubeconfig", l.kubeconfig(), "--kube-api-qps=-1"}, args...)
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting our controller: %w", err)
	}
	l.controller = watchChild(cmd)
	return nil
}

// controllerEnded says why, as far as the log knows.
func (l *launched) controllerEnded() error {
	log, _ := os.ReadFile(l.log())
	lines := strings.Split(string(bytes.TrimSpace(log)), "\n")
	return fmt.Errorf("our controller ended (%w); its last words:\n  %s", l.controller.err, strings.Join(lines[max(0, len(lines)-5):], "\n  "))
}

// stop ends all processes and removes all files, whatever happened before.
func (l *launched) stop() error {
	var errs []error
	if l.controller != nil {
		errs = append(errs, l.controller.stop())
	}
	errs = append(errs, l.tool(context.Background(), "down"))
	if l.keep {
		progress("Our controller's log: %s", l.log())
	} else {
		errs = append(errs, os.RemoveAll(l.dir))
	}
	return errors.Join(errs...)
}

// child is a process of ours that somebody waits for. err is there once ended is
// closed.
type child struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error
}

func watchChild(cmd *exec.Cmd) *child {
	c := &child{cmd: cmd, ended: make(chan struct{})}
	go func() {
		c.err = cmd.Wait()
		close(c.ended)
	}()
	return c
}

func (c *child) stop() error {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = c.cmd.Process.Signal(signal) // it may have ended meanwhile
		select {
		case <-c.ended:
			return nil
		case <-time.After(10 * time.Second):
		}
	}
	return fmt.Errorf("our controller (process %d) does not end", c.cmd.Process.Pid)
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
