//go:build unix

// Command bench compares the batchjob controller with the Job controller built into Kubernetes, on one cluster of
// simulated nodes (kwok) that it starts, and with a bare client that makes only the requests no controller can avoid
// (the floor):
//
//	go run ./test/cluster/bench                        # everything, about 20 minutes
//	go run ./test/cluster/bench --only latency         # one part of it
//	go run ./test/cluster/bench -- --profiling         # flags after -- go to our controller
//
// The parts:
//
//   - latency: small Jobs, one after the other
//   - throughput and floor: one Job of 1000 indexes, and its costs
//   - fairness: small Jobs beside a huge one
//   - huge: one Job of 10,000 indexes, with the memory and CPU of both controllers
//   - many: many small Jobs at once, also with a built-in controller that runs 50 syncs at once
//   - idle: controllers without work beside other pods: of Deployments, and of Jobs that the
//     built-in controller runs
//   - giant: one Job of 100,000 indexes, compared with the floor: most of an hour, only if named
//     (make bench-100k)
//
// The sides take turns, and no object of one Job is left when the next begins. A missed target is
// part of the table, not an error. No other program should run on the machine; the notes below the
// table report if one did.
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
	partSmall      = "small"
	partFairness   = "fairness"
	partHuge       = "huge"
	partMany       = "many"
	partIdle       = "idle"
	partGiant      = "giant"
)

// allParts are the parts of a run without --only.
var allParts = []string{partLatency, partSmall, partThroughput, partFloor, partFairness, partHuge, partMany, partIdle}

// The sizes of the parts that have no flags.
const (
	samples        = 20 // latency, fairness: Jobs per controller
	indexedSamples = 10 // latency, small: Indexed Jobs of each load per controller
	indexes        = 1000
	concurrency    = 32 // requests of the floor at the same time; our controller makes 24 to 160
	manyJobs       = 2000
	manyIndexed    = 200
	manyIndexes    = 20 // of each of the manyIndexed Jobs
	giantIndexes   = 100_000
)

var errUsage = errors.New("usage")

type options struct {
	controllerArgs []string
	only           []string
	rounds         int
	hugePods       int
	hugeRounds     int
	idlePods       int
	idleJobs       int
	idleJobPods    int
	idleTime       time.Duration
	timeout        time.Duration
}

func main() { os.Exit(exitCode()) }

func exitCode() int {
	if len(os.Args) == 3 && os.Args[1] == floorCommand {
		return serveFloor(os.Args[2])
	}
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
	flags.StringVar(&only, "only", strings.Join(allParts, ","), "`parts` to run, separated by commas; "+partGiant+" runs only if named")
	flags.IntVar(&o.rounds, "rounds", 2, "throughput, floor: Jobs per controller; the table shows the mean")
	flags.IntVar(&o.hugePods, "huge-pods", 10_000, "huge, fairness: indexes of the Job")
	flags.IntVar(&o.hugeRounds, "huge-rounds", 1, "huge: Jobs per controller; the table shows the mean")
	flags.IntVar(&o.idlePods, "idle-pods", 2000, "idle: pods of Deployments (restartPolicy Always)")
	flags.DurationVar(&o.idleTime, "idle-time", 30*time.Second, "idle: how long these pods keep running, and how long to measure without pods")
	flags.IntVar(&o.idleJobs, "idle-jobs", 2, "idle: Jobs of the built-in controller")
	flags.IntVar(&o.idleJobPods, "idle-job-pods", 3000, "idle: indexes of each of these Jobs")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "time limit of a single Job, or of Jobs that run together")
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
		if known := append(slices.Clone(allParts), partGiant); !slices.Contains(known, part) {
			return fmt.Errorf("--only knows %s, not %q", strings.Join(known, ", "), part)
		}
	}
	if min(o.rounds, o.hugePods, o.hugeRounds, o.idlePods, o.idleJobs, o.idleJobPods) < 1 {
		return errors.New("every number must be at least 1")
	}
	return nil
}

// runs reports whether at least one of the parts is requested.
func (o options) runs(parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(o.only, part) })
}

func run(ctx context.Context, o options) (err error) {
	// If a controller ends, the run ends: nothing else can be measured.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l, err := launch(ctx, o, cancel)
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
	b, err := newBench(o, l)
	if err != nil {
		return err
	}
	results, err := b.measure(ctx)
	if err != nil {
		// The measurements before an error may have taken an hour.
		err = errors.Join(err, newReport(results).print(os.Stdout))
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	return newReport(results).print(os.Stdout)
}

// pace limits the progress messages of a long measurement to one a minute.
type pace struct{ last time.Time }

func newPace() *pace { return &pace{time.Now()} }

func (p *pace) progress(format string, args ...any) {
	if time.Since(p.last) >= time.Minute {
		p.last = time.Now()
		progress(format, args...)
	}
}

// progress prints a progress message.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
