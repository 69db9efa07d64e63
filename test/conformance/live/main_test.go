// Package live runs the conformance suite on a kwok cluster: against the controller of
// kube-controller-manager, against ours, and against broken ones. With -short, only cases that
// wait for nothing run, and no broken controllers.
//
// KUBE_VERSION is another release of Kubernetes, BATCHJOB_CONFORMANCE_BINARY another binary than
// bin/kubectl-batchjob. BATCHJOB_CONFORMANCE_REPORTS is a folder for the reports.
package live

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/leash"
)

var (
	// conformance and broken are the programs, ours is kubectl-batchjob.
	conformance, broken, ours string
	kubeconfig                string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	root, err := filepath.Abs("../../..")
	if err != nil {
		return complain(err)
	}
	if ours = os.Getenv("BATCHJOB_CONFORMANCE_BINARY"); ours == "" {
		ours = filepath.Join(root, "bin", "kubectl-batchjob")
	}
	if _, err := os.Stat(ours); err != nil {
		return complain(fmt.Errorf("%w; run: make build", err))
	}
	dir, err := os.MkdirTemp("", "batchjob-conformance-")
	if err != nil {
		return complain(err)
	}
	hold, err := leash.New(root, dir)
	if err != nil {
		return complain(err)
	}
	defer func() {
		if err := hold.Release(); err != nil {
			complain(err)
		}
	}()
	conformance, broken = filepath.Join(dir, "conformance"), filepath.Join(dir, "broken")
	kubeconfig = filepath.Join(dir, "kubeconfig")
	for _, args := range [][]string{
		{"build", "-o", conformance, "./test/conformance"},
		{"build", "-o", broken, "./test/conformance/broken"},
		{"-C", "hack/controlplane", "run", ".", "up", "--dir", dir},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Stderr = root, os.Stderr
		if err := cmd.Run(); err != nil {
			return complain(fmt.Errorf("go %v: %w", args, err))
		}
	}
	return m.Run()
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "conformance:", err)
	return 1
}
