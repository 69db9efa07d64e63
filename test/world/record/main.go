// Command record makes the fixtures of pkg/explain: Jobs with their pods and events, as an API server served them, from real runs
// by our controller and by the built-in one, on a kwok cluster that it starts.
//
//	go run ./test/world/record                  # all of them, in about two minutes
//	go run ./test/world/record -only '^quota'   # some
//
// Every scenario has its own namespace, and all run at the same time. A fixture is exactly the state for which the scenario's
// condition held. The recorder itself plays the parts that kwok's nodes cannot play (a scheduler, image pulls, init containers),
// with the messages of the scheduler and the kubelet; the fixture's second line then says so.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
)

// folder is the folder of the fixtures, relative to the project's root.
const folder = "pkg/explain/analysis/testdata/recorded"

func main() { os.Exit(exitCode()) }

func exitCode() int {
	only := flag.String("only", "", "record the scenarios whose file name matches this regular `expression`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := record(ctx, *only)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, "record:", err)
		return 1
	}
	return 0
}

func record(ctx context.Context, only string) (err error) {
	filter, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	root, err := findRoot()
	if err != nil {
		return err
	}
	out := filepath.Join(root, folder)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	takes := takesOf(scenarios(), filter)
	if len(takes) == 0 {
		return fmt.Errorf("no scenario matches %q", only)
	}
	c, err := startCluster(ctx, root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	if err := c.prepare(ctx); err != nil {
		return err
	}
	return errors.Join(recordAll(ctx, c, takes, out), writeIndex(out))
}

// recordAll plays all takes at once; each take's file is written as soon as the take is done.
func recordAll(ctx context.Context, c *cluster, takes []take, out string) error {
	failed := make([]error, len(takes))
	var all sync.WaitGroup
	for i, t := range takes {
		all.Go(func() {
			if err := recordOne(ctx, c, t, out); err != nil {
				failed[i] = fmt.Errorf("%s: %w", t.file(), err)
				fmt.Fprintln(os.Stderr, "record:", failed[i])
				return
			}
			fmt.Fprintln(os.Stderr, "recorded", t.file())
		})
	}
	all.Wait()
	if errors.Join(failed...) != nil {
		return errors.New("not all scenarios were recorded")
	}
	return nil
}

func recordOne(ctx context.Context, c *cluster, t take, out string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := newStage(ctx, c, t)
	if err != nil {
		return err
	}
	if err := t.play(s); err != nil {
		return err
	}
	return writeFixture(filepath.Join(out, t.file()), t.what, s.seen)
}

// findRoot returns the folder of the project's go.mod.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "hack", "controlplane", "go.mod")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("run this in the project")
}
