package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/cases"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/report"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
)

// Exit codes.
const (
	exitPassed = iota
	exitFailed
	exitError
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(args, out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitPassed
	case err != nil:
		fmt.Fprintf(errOut, "error: %v\nSee 'conformance --help'.\n", err)
		return exitError
	}
	chosen := o.choose(cases.All())
	if len(chosen) == 0 {
		fmt.Fprintf(errOut, "error: no case matches --run %s\n", o.run)
		return exitError
	}
	if o.list {
		report.List(out, chosen)
		return exitPassed
	}
	r, err := check(ctx, o, chosen, errOut)
	if err != nil {
		fmt.Fprintln(errOut, "error:", err)
		return exitError
	}
	if err := r.Write(out, o.output); err != nil {
		fmt.Fprintln(errOut, "error:", err)
		return exitError
	}
	if r.Count(suite.Fail) > 0 {
		return exitFailed
	}
	return exitPassed
}
