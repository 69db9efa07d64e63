// Command field measures explanations of situations from the real world: it plays the cases of test/world/field/cases, all at the
// same time, on its own cluster, asks the plugin about each, and prints a table of the answers, judged by the facts of a good
// answer.
//
//	go run ./test/world/field                # all of them, in two minutes
//	go run ./test/world/field -only '^dns'   # some
//	go run ./test/world/field -cases FOLDER  # those of another folder
//
// It fails if a case does. docs/internals/field.md lists the cases.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/field/situation"
)

func main() { os.Exit(exitCode()) }

func exitCode() int {
	root := flag.String("root", ".", "the `folder` of the project")
	folder := flag.String("cases", "", "play the cases of this `folder`, instead of test/world/field/cases")
	only := flag.String("only", "", "play the cases whose name matches this regular `expression`")
	out := flag.String("out", "bin/field", "write all answers to this `folder`")
	record := flag.String("record", "", "write recordings of the takes to this `folder`, test/world/field/recordings for those of the tests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bad, err := measure(ctx, *root, *folder, *only, *out, *record)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, "field:", err)
		return 1
	case bad > 0:
		return 1
	}
	return 0
}

// measure plays the cases and returns how many takes failed.
func measure(ctx context.Context, root, folder, only, out, record string) (bad int, err error) {
	name, err := regexp.Compile(only)
	if err != nil {
		return 0, err
	}
	if root, err = filepath.Abs(root); err != nil {
		return 0, err
	}
	cases, err := situation.Load(cmp.Or(folder, filepath.Join(root, "test", "world", "field", "cases")), name)
	if err != nil {
		return 0, err
	}
	takes, err := takesOf(cases)
	if err != nil {
		return 0, err
	}
	binary, err := leash.Binary(root, "BATCHJOB_FIELD_BINARY")
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return 0, err
	}
	if record != "" {
		if err := os.MkdirAll(record, 0o755); err != nil {
			return 0, err
		}
	}
	c, err := startCluster(ctx, root, binary)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	results := c.playAll(ctx, takes, out, record)
	return printTable(os.Stdout, results), ctx.Err()
}
