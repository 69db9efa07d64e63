//go:build linux

// Package docs runs every command of the documentation, as its reader would: README.md,
// CONTRIBUTING.md, examples/README.md and the pages of docs, each in a namespace of its own
// of a kwok cluster on which our controller runs (issue 7, point 6). Package page says how
// a page directs that, package shell how a block is run. What needs no cluster (links,
// anchors, flags, directives) is looked at in the tests of package page.
//
// BATCHJOB_DOCS_BINARY is another binary than bin/kubectl-batchjob.
package docs

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/leash"
)

// cluster is what all pages share.
type cluster struct {
	// root is the project, dir is for all that is gone after the test.
	root, dir string
	// binaries is the folder of kubectl, binary kubectl-batchjob.
	binaries, binary string
	// archives reports whether dist has those of `make snapshot`.
	archives bool

	mu sync.Mutex
	// notes are blocks that were not run, with the reason.
	notes []string
	// whole is held by a page that changes what belongs to no namespace.
	whole sync.Mutex
}

// shared is set by TestMain.
var shared *cluster

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	flag.Parse()
	if err := inParallel("12"); err != nil {
		return 1, err
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return 1, err
	}
	c := &cluster{root: root, binary: os.Getenv("BATCHJOB_DOCS_BINARY")}
	if c.binary == "" {
		c.binary = filepath.Join(root, "bin", "kubectl-batchjob")
	}
	if _, err := os.Stat(c.binary); err != nil {
		return 1, fmt.Errorf("%w; run: make build", err)
	}
	found, err := filepath.Glob(filepath.Join(root, "dist", "kubectl-batchjob_*.tar.gz"))
	if err != nil {
		return 1, err
	}
	c.archives = len(found) > 0
	if c.dir, err = os.MkdirTemp("", "batchjob-docs-"); err != nil {
		return 1, err
	}
	hold, err := leash.New(root, c.dir)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, hold.Release()) }()
	return c.serve(m.Run)
}

// serve runs the tests while the cluster and the controller are there.
func (c *cluster) serve(tests func() int) (int, error) {
	path := exec.Command("go", "-C", "hack/controlplane", "run", ".", "path")
	path.Dir, path.Stderr = c.root, os.Stderr
	out, err := path.Output()
	if err != nil {
		return 1, fmt.Errorf("looking for the control plane: %w", err)
	}
	c.binaries = strings.TrimSpace(string(out))
	up := exec.Command("go", "-C", "hack/controlplane", "run", ".", "up", "--dir", c.dir)
	up.Dir, up.Stderr = c.root, os.Stderr
	if err := up.Run(); err != nil {
		return 1, fmt.Errorf("starting the cluster: %w", err)
	}
	// With a Lease, so that explanations can tell who is alive; in a namespace that no page removes.
	controller := leash.Command(c.binary, "controller", "--kubeconfig", filepath.Join(c.dir, "kubeconfig"),
		"--leader-elect", "--leader-elect-resource-namespace", "kube-system",
		"--metrics-bind-address", "0", "--health-probe-bind-address", "0")
	var said strings.Builder
	controller.Stderr = &said
	if err := controller.Start(); err != nil {
		return 1, err
	}
	var died error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		died = controller.Wait()
	}()
	shared = c
	code := tests()
	c.report()
	select {
	case <-ended:
		return 1, fmt.Errorf("the controller has ended: %w\n%s", died, said.String())
	default:
	}
	if err := controller.Process.Kill(); err != nil {
		return 1, err
	}
	<-ended
	if code != 0 && testing.Verbose() {
		fmt.Fprintf(os.Stderr, "The controller said:\n%s", said.String())
	}
	return code, nil
}

// report lists what was not run.
func (c *cluster) report() {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.notes)
	for _, note := range c.notes {
		fmt.Println(note)
	}
}

func (c *cluster) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// inParallel runs so many pages at once, unless -parallel says otherwise: they mostly wait.
func inParallel(n string) error {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", n)
}
