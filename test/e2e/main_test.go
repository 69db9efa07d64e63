// Package e2e runs the real binary on a kwok cluster: real API server, real
// kube-controller-manager beside ours, simulated nodes that obey the annotations
// of examples/README.md.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	// binary is kubectl-batchjob as `make build` leaves it.
	binary string
	// kubeconfig is that of the cluster of this test run.
	kubeconfig string
	client     kubernetes.Interface
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	root, err := filepath.Abs("../..")
	if err != nil {
		return complain(err)
	}
	binary = filepath.Join(root, "bin", "kubectl-batchjob")
	if _, err := os.Stat(binary); err != nil {
		return complain(fmt.Errorf("%w; run: make build", err))
	}
	dir, err := os.MkdirTemp("", "batchjob-e2e-")
	if err != nil {
		return complain(err)
	}
	defer os.RemoveAll(dir)
	defer func() {
		if err := cluster(root, "down", "--dir", dir); err != nil {
			complain(err)
		}
	}()
	if err := cluster(root, "up", "--dir", dir); err != nil {
		return complain(err)
	}
	kubeconfig = filepath.Join(dir, "kubeconfig")
	if client, err = connect(); err != nil {
		return complain(err)
	}
	return m.Run()
}

func connect() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = -1, 0
	return kubernetes.NewForConfig(config)
}

func cluster(root string, args ...string) error {
	cmd := exec.CommandContext(context.Background(), "go", append([]string{"-C", "hack/controlplane", "run", "."}, args...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	return cmd.Run()
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	return 1
}
