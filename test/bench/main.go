//go:build unix

// Command bench compares the batchjob controller with the Job controller built
// into Kubernetes, both on one cluster of pretended nodes (kwok) that it starts
// for itself, and with a bare client that does only what no controller can leave
// out (the floor):
//
//	go run ./test/bench                        # everything, about eight minutes
//	go run ./test/bench --only latency         # one part of it
//	go run ./test/bench --pods 10000 --rounds 1
//	go run ./test/bench -o json > bench.json   # with every single measurement
//	go run ./test/bench --keep -- -v=3         # flags after -- go to our controller
//
// The sides take turns, and nothing of one Job is left when the next begins. A
// missed target is part of the table, not an error. Nothing else should run on
// the machine; the notes below the table say if something did.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	partLatency    = "latency"
	partThroughput = "throughput"
	partFloor      = "floor"
	partFairness   = "fairness"
)

var errUsage = errors.New("usage")

type options struct {
	binary         string
	controllerArgs []string
	only           []string
	output         string
	samples        int
	indexedSamples int
	pods           int
	rounds         int
	concurrency    int
	hugePods       int
	timeout        time.Duration
	keep           bool
}

func main() { os.Exit(exitCode()) }

func exitCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	o, err := parseOptions(os.Args[1:])
	if err == nil {
		err = run(ctx, o)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted")
		return 130
	case errors.Is(err, errUsage):
		return 2
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	return 1
}

func parseOptions(args []string) (options, error) {
	var o options
	var only string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.binary, "binary", "bin/kubectl-batchjob", "our `program`")
	flags.StringVar(&only, "only", "latency,throughput,floor,fairness", "`parts` to run, separated by commas")
	flags.StringVar(&o.output, "o", "table", "output `format`: table or json")
	flags.IntVar(&o.samples, "samples", 20, "latency: 1-pod Jobs per controller")
	flags.IntVar(&o.indexedSamples, "indexed-samples", 10, "latency: 10-pod Indexed Jobs per controller")
	flags.IntVar(&o.pods, "pods", 1000, "throughput, floor: indexes of a Job")
	flags.IntVar(&o.rounds, "rounds", 2, "throughput, floor: Jobs per controller; the table shows the mean")
	flags.IntVar(&o.concurrency, "concurrency", 32, "floor: requests at the same time (our controller makes 32)")
	flags.IntVar(&o.hugePods, "huge-pods", 10_000, "fairness: indexes of the Job beside which Jobs without pods are timed")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "time limit of a single Job")
	flags.BoolVar(&o.keep, "keep", false, "keep our controller's log")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return o, err
	} else if err != nil {
		return o, errUsage
	}
	o.controllerArgs, o.only = flags.Args(), strings.Split(only, ",")
	return o, o.validate()
}

func (o options) validate() error {
	for _, part := range o.only {
		if !slices.Contains([]string{partLatency, partThroughput, partFloor, partFairness}, part) {
			return fmt.Errorf("--only knows latency, throughput, floor and fairness, not %q", part)
		}
	}
	if o.output != "table" && o.output != "json" {
		return fmt.Errorf("-o must be table or json, not %q", o.output)
	}
	if min(o.samples, o.indexedSamples, o.pods, o.rounds, o.concurrency, o.hugePods) < 1 {
		return errors.New("every number must be at least 1")
	}
	return nil
}

func (o options) runs(part string) bool { return slices.Contains(o.only, part) }

func run(ctx context.Context, o options) (err error) {
	l, err := launch(ctx, o)
	if l != nil {
		defer func() {
			if failed := l.stop(); failed != nil {
				progress("cleaning up: %v", failed)
				err = errors.Join(err, failed)
			}
		}()
	}
	if err != nil {
		return err
	}
	// The end of our controller ends everything: nothing else can be measured.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		<-l.controller.ended
		cancel(l.controllerEnded())
	}()
	b, err := newBench(o, l)
	if err != nil {
		return err
	}
	results, err := b.measure(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	return printReport(os.Stdout, o, newReport(results))
}

// progress tells a waiting person what goes on.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
