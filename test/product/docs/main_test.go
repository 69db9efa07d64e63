//go:build linux

// Package docs runs every command of the documentation, as a reader would: README.md, CONTRIBUTING.md,
// examples/README.md and the pages of docs, on a kwok cluster on which our controller runs (issue 7, point 6). The pages of
// page.Tour are one visit in one namespace; every other page has its own. Package page documents the directives of a page, package shell how a block is run. The tests
// of package page check the parts that need no cluster (links, anchors, flags, directives).
//
// BATCHJOB_DOCS_BINARY is another binary than bin/kubectl-batchjob.
package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// cluster is the state that all pages share.
type cluster struct {
	// root is the project's folder; dir holds files that are removed after the tests.
	root, dir string
	// binaries is the folder of kubectl, binary kubectl-batchjob.
	binaries, binary string
	// archives reports whether dist has the archives of `make snapshot`.
	archives bool

	mu sync.Mutex
	// notes are blocks that were not run, with the reason.
	notes []string
	// whole is locked by a page that changes objects outside of its namespace.
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
	if err := leash.InParallel("12"); err != nil {
		return 1, err
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		return 1, err
	}
	c := &cluster{root: root}
	if c.binary, err = leash.Binary(root, "BATCHJOB_DOCS_BINARY"); err != nil {
		return 1, err
	}
	found, err := filepath.Glob(filepath.Join(root, "dist", "kubectl-batchjob_*.tar.gz"))
	if err != nil {
		return 1, err
	}
	c.archives = len(found) > 0
	hold, err := leash.NewCluster(root, "docs")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, hold.Release()) }()
	c.dir = hold.Dir
	if c.binaries, err = leash.ControlPlane(context.Background(), root, "path"); err != nil {
		return 1, err
	}
	if err := hold.Up(context.Background()); err != nil {
		return 1, err
	}
	return c.serve(m.Run)
}

// serve runs the tests with a running controller.
func (c *cluster) serve(tests func() int) (int, error) {
	// With a Lease, so that explanations can check whether the controller is alive; in a namespace that no page
	// removes.
	controller, err := leash.StartController(context.Background(), c.binary, filepath.Join(c.dir, "kubeconfig"), nil,
		"--leader-elect", "--leader-elect-resource-namespace", "kube-system")
	if err != nil {
		return 1, err
	}
	shared = c
	code := tests()
	c.report()
	select {
	case <-controller.Done:
		return 1, fmt.Errorf("the controller has ended:\n%s", controller.Stderr.String())
	default:
	}
	controller.Kill()
	if code != 0 && testing.Verbose() {
		fmt.Fprintf(os.Stderr, "The controller said:\n%s", controller.Stderr.String())
	}
	return code, nil
}

// report lists the blocks that were not run.
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
