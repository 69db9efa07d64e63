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
	// metrics holds the URL of each controller's metrics, "" for none.
	metrics map[side]string
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
	l := &launched{Cluster: cluster, binary: binary, args: o.controllerArgs, fail: fail, metrics: map[side]string{}}
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
	return errors.Join(l.controller.stop(), l.manager.stop(), l.bare.stop(), l.Release())
}
