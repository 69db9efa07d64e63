//go:build unix

package leash

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Cluster is a cluster of hack/controlplane in a temporary folder, on a Leash.
type Cluster struct {
	*Leash
	// Root is the project's folder, Dir the cluster's, and Kubeconfig the administrator's kubeconfig in Dir.
	Root, Dir, Kubeconfig string
}

// NewCluster creates the folder, with the purpose in its name; Up starts the cluster.
func NewCluster(root, purpose string) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "batchjob-"+purpose+"-")
	if err != nil {
		return nil, err
	}
	hold, err := New(root, dir)
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return &Cluster{Leash: hold, Root: root, Dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig")}, nil
}

// Up starts the cluster, with flags of the verb up.
func (c *Cluster) Up(ctx context.Context, flags ...string) error {
	_, err := ControlPlane(ctx, c.Root, append([]string{"up", "--dir", c.Dir}, flags...)...)
	return err
}

// ControlPlane runs hack/controlplane and returns the line that it prints.
func ControlPlane(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"-C", filepath.Join(root, "hack", "controlplane"), "run", "."}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go run forwards the signal.
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("hack/controlplane %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Binary returns the path of the kubectl-batchjob to test: the value of the environment variable, or the result of make
// build.
func Binary(root, variable string) (string, error) {
	binary := os.Getenv(variable)
	if binary == "" {
		binary = filepath.Join(root, "bin", "kubectl-batchjob")
	}
	if _, err := os.Stat(binary); err != nil {
		return "", fmt.Errorf("%w; run: make build", err)
	}
	return binary, nil
}

// InParallel parses the flags and sets the number of parallel tests, unless -parallel is given: tests on a cluster
// mostly wait.
func InParallel(n string) error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", n)
}
