//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
)

// bench takes the measurements.
type bench struct {
	options
	launched  *launched
	api       api
	processes processes
	jobs      jobMaker
}

// results holds all single measurements, in the order in which they were made.
type results struct {
	Machine        string
	Pods, HugePods int
	Latency        []latency
	Small          []latency
	Bulk           bulks
	// Beside are the Jobs without pods that ran beside a huge Job.
	Beside []latency
	Huge   bulks
	Many   []many
	Idle   []idle
	Giant  *giant
}

// latency is the duration of one Job from creation to Complete.
type latency struct {
	Side  side
	Shape string
	MS    float64
}

// bulk is one large Job, or its floor.
type bulk struct {
	Side     side
	Seconds  float64
	Requests requestCounts
	// CPU is in seconds and Peak in bytes of resident memory, by process.
	CPU  map[string]float64
	Peak map[string]int64
	// OthersCPU is the CPU seconds of all other processes on the machine.
	OthersCPU float64
}

func newBench(o options, l *launched) (*bench, error) {
	a, err := newAPI(l.Kubeconfig)
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, launched: l, api: a, processes: findProcesses(l.Dir)}
	if len(b.processes) == 0 {
		progress("There is no /proc here: no CPU and memory, and no check of the built-in controller's limits.")
		return b, nil
	}
	b.processes[procOurs], b.processes[procBench], b.processes[procFloor] = l.controller.pid(), os.Getpid(), l.bare.process.pid()
	return b, limitsLifted(commandLine(fmt.Sprintf("/proc/%d/cmdline", b.processes[procManager])))
}

func (b *bench) measure(ctx context.Context) (results, error) {
	version, err := b.api.Discovery().ServerVersion()
	if err != nil {
		return results{}, err
	}
	r := results{Pods: indexes, HugePods: b.hugePods, Machine: fmt.Sprintf("Kubernetes %s with kwok nodes, %d CPUs, %s/%s", version.GitVersion, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)}
	progress("Warming up")
	for _, s := range []side{ours, builtIn} {
		if _, err := b.latency(ctx, s, shape{20, true}); err != nil {
			return r, err
		}
	}
	for _, part := range b.parts(&r) {
		if !b.runs(part.names...) {
			continue
		}
		before := newReport(r).Rows
		err := part.measure(ctx)
		if rows := newRows(before, newReport(r).Rows); len(rows) > 0 {
			progress("%s", renderTable(rows)) // What follows may take an hour, or fail.
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// newRows returns the rows of after whose values are not in before.
func newRows(before, after []row) []row {
	return slices.DeleteFunc(slices.Clone(after), func(r row) bool {
		return slices.ContainsFunc(before, func(old row) bool { return old.What == r.What && old.hasValues() == r.hasValues() })
	})
}

// hasValues reports whether anything was measured for the row.
func (r row) hasValues() bool { return r.Ours != nil || r.BuiltIn != nil }

// part is a measurement with one or more names.
type part struct {
	names   []string
	measure func(context.Context) error
}

func (b *bench) parts(r *results) []part {
	return []part{
		{[]string{partLatency}, func(ctx context.Context) (err error) { r.Latency, err = b.latencies(ctx); return err }},
		{[]string{partSmall}, func(ctx context.Context) (err error) { r.Small, err = small(ctx, b); return err }},
		{[]string{partThroughput, partFloor}, func(ctx context.Context) (err error) { r.Bulk, err = b.bulks(ctx); return err }},
		{[]string{partFairness}, func(ctx context.Context) (err error) { r.Beside, err = b.fairness(ctx); return err }},
		{[]string{partHuge}, func(ctx context.Context) (err error) {
			r.Huge, err = b.bulksOf(ctx, "Huge", b.hugePods, b.hugeRounds, ours, builtIn, floor)
			return err
		}},
		{[]string{partMany}, func(ctx context.Context) (err error) { r.Many, err = b.many(ctx); return err }},
		{[]string{partGiant}, func(ctx context.Context) (err error) { r.Giant, err = b.giants(ctx); return err }},
		{[]string{partIdle}, func(ctx context.Context) (err error) { r.Idle, err = b.idle(ctx); return err }},
	}
}

func (b *bench) latencies(ctx context.Context) ([]latency, error) {
	var list []latency
	for _, m := range []struct {
		shape   shape
		samples int
		sides   []side
	}{{shape{1, false}, samples, []side{ours, builtIn, floor}}, {shape{10, true}, indexedSamples, []side{ours, builtIn}}} {
		progress("Latency, %s: %d Jobs each", m.shape, m.samples)
		for _, s := range turns(m.samples, m.sides...) {
			l, err := b.latency(ctx, s, m.shape)
			if err != nil {
				return nil, err
			}
			list = append(list, l)
		}
	}
	return list, nil
}

// turns returns rounds times the sides, every other round in reverse order (ABBA), so that a drift of the machine
// affects all sides equally.
func turns(rounds int, sides ...side) []side {
	var order []side
	for i := range rounds {
		for j := range sides {
			if i%2 == 1 {
				j = len(sides) - 1 - j
			}
			order = append(order, sides[j])
		}
	}
	return order
}

func (b *bench) latency(ctx context.Context, s side, shape shape) (latency, error) {
	limited, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	run := b.api.complete
	if s == floor {
		run = b.api.floorJob
	}
	job, took, err := run(limited, b.jobs.job(s, shape))
	if err != nil {
		return latency{}, err
	}
	return latency{Side: s, Shape: shape.String(), MS: 1000 * took.Seconds()}, b.api.remove(ctx, job)
}

func (b *bench) bulks(ctx context.Context) (bulks, error) {
	var sides []side
	if b.runs(partThroughput) {
		sides = append(sides, ours, builtIn)
	}
	if b.runs(partFloor) {
		sides = append(sides, floor)
	}
	return b.bulksOf(ctx, "Throughput", indexes, b.rounds, sides...)
}

// bulksOf runs Jobs of so many indexes, in turns. Huge Jobs have so many that memory and CPU depend on the pods and
// hardly on the process itself.
func (b *bench) bulksOf(ctx context.Context, what string, pods, rounds int, sides ...side) (list bulks, err error) {
	if err := b.warmUp(ctx, pods); err != nil {
		return nil, err
	}
	order := turns(rounds, sides...)
	for i, s := range order {
		r, err := b.bulk(ctx, s, pods)
		if r.Seconds > 0 {
			progress("%s %d/%d, %d indexes, %s: %.1f s", what, i+1, len(order), pods, s, r.Seconds)
			list = append(list, r)
		}
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

// warmUp creates a burst of pods that is not measured. The API server sizes its watch caches by past load: in a new
// cluster, the first burst overruns the watches of all clients dozens of times, which would slow down the first
// measurement.
func (b *bench) warmUp(ctx context.Context, pods int) error {
	pods = min(pods, 1000)
	progress("Warming up with %d pods", pods)
	limited, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	job, _, err := b.launched.bare.run(limited, b.jobs.job(floor, shape{pods, true}))
	if err != nil {
		return err
	}
	return b.api.remove(ctx, job)
}

// bulk runs one large Job and removes it. If the removal fails, the measurement is valid nevertheless.
func (b *bench) bulk(ctx context.Context, s side, pods int) (bulk, error) {
	limited, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	job := b.jobs.job(s, shape{pods, true})
	r, err := measured(limited, b.api, b.processes, s, func() (took time.Duration, err error) {
		if s == floor {
			job, took, err = b.launched.bare.run(limited, job)
		} else {
			job, took, err = b.api.complete(limited, job)
		}
		return took, err
	})
	if err != nil {
		return bulk{}, err
	}
	return r, b.api.remove(ctx, job)
}

// measured returns the duration that run reports, and its costs. The API server's counters are read outside of the
// interval in which CPU is counted, as reading them costs CPU, too.
func measured(ctx context.Context, a api, p processes, s side, run func() (time.Duration, error)) (bulk, error) {
	before, err := a.requests(ctx)
	if err != nil {
		return bulk{}, err
	}
	var took time.Duration
	used, err := p.during(func() (err error) {
		took, err = run()
		return err
	})
	if err != nil {
		return bulk{}, err
	}
	after, err := a.requests(ctx)
	if err != nil {
		return bulk{}, err
	}
	return bulk{
		Side: s, Seconds: took.Seconds(), Requests: after.since(before), CPU: used.cpu, Peak: used.peak, OthersCPU: used.others(),
	}, nil
}
