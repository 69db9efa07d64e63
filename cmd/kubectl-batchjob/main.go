// Command kubectl-batchjob is the `kubectl batchjob` plugin, and the external Job controller.
package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	var terminated atomic.Bool
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		terminated.Store(<-signals == syscall.SIGTERM)
		signal.Stop(signals) // a second signal ends the process at once
		cancel()
	}()

	cli.SilenceLibraries()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	err := cli.Execute(ctx, os.Args[1:], streams)
	cmdutil.PrintError(streams.ErrOut, err)
	code := cmdutil.ExitCode(err)
	if code == cmdutil.ExitInterrupted && terminated.Load() {
		code = cmdutil.ExitTerminated
	}
	os.Exit(code)
}
