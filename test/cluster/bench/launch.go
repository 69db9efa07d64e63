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
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// launched holds the cluster and our controller, with all their files below dir.
type launched struct {
	dir    string
	root   string // the project's folder
	binary string // our program
	args   []string
	keep   bool
	// fail is called when a process ends unexpectedly.
	fail func(error)
	// controller is our controller; manager is kube-controller-manager, once it has been restarted with other flags.
	controller, manager *child
	// bare is the floor process.
	bare *bareClient
	// metrics holds the URL of each controller's metrics, "" for none.
	metrics map[side]string
}

func (l *launched) cluster() string    { return filepath.Join(l.dir, "cluster") }
func (l *launched) kubeconfig() string { return filepath.Join(l.cluster(), "kubeconfig") }
func (l *launched) log() string        { return filepath.Join(l.dir, "controller.log") }

// launch starts the cluster, then our controller. The caller must stop the result, even after an error.
func launch(ctx context.Context, o options, fail func(error)) (*launched, error) {
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
	l := &launched{dir: dir, root: root, binary: binary, args: o.controllerArgs, keep: o.keep, fail: fail, metrics: map[side]string{}}
	// Two nodes: the templates name one node; pods without a node name would wrongly get the other.
	up := []string{"--nodes", "2"}
	if err := l.tool(ctx, "up", up...); err != nil {
		return l, err
	}
	if l.bare, err = startBareClient(l.root, l.kubeconfig(), fail); err != nil {
		return l, err
	}
	return l, l.startController()
}

// projectRoot returns the nearest parent folder that contains the cluster tool.
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

// tool runs the cluster tool. The tool has its own process group, so that Ctrl-C ends it only through ctx and never
// while it removes the cluster.
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
		"controller", "--kubeconfig", l.kubeconfig(), "--health-probe-bind-address=0",
		"--metrics-bind-address=" + address, "--metrics-secure=false", "--kube-api-qps=-1",
	}
	cmd := exec.Command(l.binary, append(args, l.args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	deployed, err := deployedEnv(l.root)
	if err != nil {
		return err
	}
	cmd.Env = slices.Concat(deployed, os.Environ()) // The last value of a name counts.
	l.metrics[ours] = "http://" + address + "/metrics"
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
	errs := []error{l.controller.stop(), l.manager.stop(), l.bare.stop(), l.tool(context.Background(), "down")}
	if l.keep {
		progress("Our controller's log: %s", l.log())
	} else {
		errs = append(errs, os.RemoveAll(l.dir))
	}
	return errors.Join(errs...)
}
