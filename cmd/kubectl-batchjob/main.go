// Command kubectl-batchjob is the `kubectl batchjob` plugin, and the external Job controller.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
)

func main() {
	guard := &interrupt.Guard{Exit: exiter(), After: func(d time.Duration, f func()) { time.AfterFunc(d, f) }}
	ctx, cancel := context.WithCancel(interrupt.WithGuard(context.Background(), guard))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		code := cmdutil.ExitInterrupted
		if <-signals == syscall.SIGTERM {
			code = cmdutil.ExitTerminated
		}
		signal.Stop(signals) // a second signal ends the process at once
		guard.Interrupt(code)
		cancel()
	}()

	cli.SilenceLibraries()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	err := cli.Execute(ctx, os.Args[1:], streams)
	cmdutil.PrintError(streams.ErrOut, err)
	code := cmdutil.ExitCode(err)
	if code == cmdutil.ExitInterrupted {
		code = max(code, guard.Code())
	}
	os.Exit(code)
}

// exiter returns a function that ends the process in the middle of a verb. It restores the terminal, which may be in raw mode
// for the interactive view, or without echo for a password.
func exiter() func(code int) {
	stdin := int(os.Stdin.Fd())
	state, err := term.GetState(stdin)
	return func(code int) {
		if err == nil {
			_ = term.Restore(stdin, state)
		}
		os.Exit(code)
	}
}
