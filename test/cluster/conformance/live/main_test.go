// Package live runs the conformance suite on a kwok cluster: against the built-in controller in kube-controller-manager,
// against ours, and against broken ones. With -short, it runs only the cases without waiting times, and no broken
// controllers.
//
// KUBE_VERSION selects another release of Kubernetes, BATCHJOB_CONFORMANCE_BINARY another binary than
// bin/kubectl-batchjob.
package live

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

var (
	// conformance and broken are the paths of the programs, ours of kubectl-batchjob.
	conformance, broken, ours string
	kubeconfig                string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		return complain(err)
	}
	if ours, err = leash.Binary(root, "BATCHJOB_CONFORMANCE_BINARY"); err != nil {
		return complain(err)
	}
	cluster, err := leash.NewCluster(root, "conformance")
	if err != nil {
		return complain(err)
	}
	defer func() {
		if err := cluster.Release(); err != nil {
			complain(err)
		}
	}()
	conformance, broken, kubeconfig = filepath.Join(cluster.Dir, "conformance"), filepath.Join(cluster.Dir, "broken"), cluster.Kubeconfig
	for program, source := range map[string]string{conformance: "./test/cluster/conformance", broken: "./test/cluster/conformance/broken"} {
		cmd := exec.Command("go", "build", "-o", program, source)
		cmd.Dir, cmd.Stderr = root, os.Stderr
		if err := cmd.Run(); err != nil {
			return complain(fmt.Errorf("building %s: %w", source, err))
		}
	}
	if err := cluster.Up(context.Background()); err != nil {
		return complain(err)
	}
	return m.Run()
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "conformance:", err)
	return 1
}
