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
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// launched holds the cluster and our controller, with all their files in the cluster's folder.
type launched struct {
	*leash.Cluster
	binary string // our program
	args   []string
	// fail is called when a process ends unexpectedly.
	fail func(error)
	// controller is our controller; manager is kube-controller-manager, once it has been restarted with other flags.
	controller, manager *child
	// bare is the floor process.
	bare *bareClient
	// metrics is the URL of our controller's metrics.
	metrics string
}

func (l *launched) log() string { return filepath.Join(l.Dir, "controller.log") }

// launch starts the cluster, then our controller. The caller must stop the result, even after an error.
func launch(ctx context.Context, o options, fail func(error)) (*launched, error) {
	root, err := os.Getwd() // of make bench
	if err != nil {
		return nil, err
	}
	binary, err := leash.Binary(root, "BATCHJOB_BINARY")
	if err != nil {
		return nil, err
	}
	cluster, err := leash.NewCluster(root, "bench")
	if err != nil {
		return nil, err
	}
	l := &launched{Cluster: cluster, binary: binary, args: o.controllerArgs, fail: fail}
	// Two nodes: the templates name one node; pods without a node name would wrongly get the other.
	if err := l.Up(ctx, "--nodes", "2"); err != nil {
		return l, err
	}
	if l.bare, err = startBareClient(root, l.Kubeconfig, fail); err != nil {
		return l, err
	}
	return l, l.startController()
}

// startController starts our controller.
func (l *launched) startController() error {
	log, err := os.OpenFile(l.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	address, err := freeAddress()
	if err != nil {
		return err
	}
	args := []string{
		"controller", "--kubeconfig", l.Kubeconfig, "--health-probe-bind-address=0",
		"--metrics-bind-address=" + address, "--metrics-secure=false", "--kube-api-qps=-1",
	}
	cmd := exec.Command(l.binary, append(args, l.args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	deployed, err := deployedEnv(l.Root)
	if err != nil {
		return err
	}
	cmd.Env = slices.Concat(deployed, os.Environ()) // The last value of a name counts.
	l.metrics = "http://" + address + "/metrics"
	l.controller, err = startChild("our controller", cmd, func(c *child) { l.fail(l.lastWords(c)) })
	return err
}

// deployedEnv returns the environment that the Deployment sets for the controller.
func deployedEnv(root string) (env []string, err error) {
	text, err := os.ReadFile(filepath.Join(root, "config", "manager", "deployment.yaml"))
	if err != nil {
		return nil, err
	}
	for _, document := range strings.Split(string(text), "\n---\n") {
		var deployment appsv1.Deployment
		if err := yaml.Unmarshal([]byte(document), &deployment); err != nil {
			return nil, err
		}
		for _, container := range deployment.Spec.Template.Spec.Containers {
			for _, e := range container.Env {
				env = append(env, e.Name+"="+e.Value)
			}
		}
	}
	return env, nil
}

// lastWords returns an error with the end of our controller's log.
func (l *launched) lastWords(c *child) error {
	log, _ := os.ReadFile(l.log())
	lines := strings.Split(string(bytes.TrimSpace(log)), "\n")
	return fmt.Errorf("%s ended (%w); its last words:\n  %s", c.name, c.err, strings.Join(lines[max(0, len(lines)-5):], "\n  "))
}

// stop ends all processes and removes all files, in whatever state they are.
func (l *launched) stop() error {
	return errors.Join(l.controller.stop(), l.manager.stop(), l.bare.stop(), l.Release())
}

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
