//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

const (
	// defaultSyncs is kube-controller-manager's default of --concurrent-job-syncs.
	defaultSyncs = 5
	manySyncs    = 50
)

// many is a set of small Jobs that are created at once, measured until all are Complete.
type many struct {
	bulk
	Load string
	Jobs int
	// Syncs is --concurrent-job-syncs of the built-in controller; 0 for ours, which runs with its default.
	Syncs int
	// Times has each Job's duration in ms, from the request to create it until a watch shows that it is Complete.
	Times []float64
}

func (m many) perSecond() float64 { return float64(m.Jobs) / m.Seconds }

// many measures both controllers with their defaults, and then the built-in one with more syncs at once.
func (b *bench) many(ctx context.Context) (list []many, err error) {
	run := func(s side, syncs int) error {
		for _, load := range []struct {
			jobs  int
			shape shape
		}{{manyJobs, shape{1, false}}, {manyIndexed, shape{manyIndexes, true}}} {
			m, err := b.manyJobsOf(ctx, s, syncs, load.jobs, load.shape)
			if err != nil {
				return err
			}
			progress("Many, %s, %s: %.1f s", m.Load, s, m.Seconds)
			list = append(list, m)
		}
		return nil
	}
	if err := b.warmUp(ctx, manyJobs); err != nil {
		return nil, err
	}
	if err := run(ours, 0); err != nil {
		return list, err
	}
	if err := run(builtIn, defaultSyncs); err != nil || len(b.processes) == 0 {
		return list, err // Without /proc, kube-controller-manager cannot be restarted with other flags.
	}
	progress("kube-controller-manager starts anew with %d syncs at once", manySyncs)
	if err := b.restartManager(ctx, fmt.Sprintf("--concurrent-job-syncs=%d", manySyncs)); err != nil {
		return list, err
	}
	err = run(builtIn, manySyncs)
	return list, errors.Join(err, b.restartManager(ctx, fmt.Sprintf("--concurrent-job-syncs=%d", defaultSyncs)))
}

func (b *bench) manyJobsOf(ctx context.Context, s side, syncs, n int, each shape) (many, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	m := many{Load: fmt.Sprintf("%d Jobs of %s", n, each), Jobs: n, Syncs: syncs}
	group := fmt.Sprintf("many-%d", b.jobs.made)
	var jobs []*batchv1.Job
	for range n {
		jobs = append(jobs, b.jobs.job(s, each, inGroup(group)))
	}
	r, err := measured(ctx, b.api, b.processes, s, func() (took time.Duration, err error) {
		begun := time.Now()
		m.Times, err = b.api.runGroup(ctx, group, jobs, outcome)
		return time.Since(begun), err
	})
	if err != nil {
		return m, err
	}
	m.bulk = r
	return m, b.api.removeGroup(ctx, group)
}

// addMany compares our controller with the built-in one for each load: with its defaults, and with more syncs at once.
func (r *report) addMany(all []many) {
	for i := range all {
		for j := range all {
			if all[i].Side == ours && all[j].Side == builtIn && all[i].Load == all[j].Load {
				r.addManyLoad(all[i], all[j])
			}
		}
	}
	if len(all) > 0 {
		r.note(fmt.Sprintf("Many Jobs: %d are created at the same time; a Job's time is from the request to create it until a watch shows that it is Complete. "+
			"kube-controller-manager has its default of --concurrent-job-syncs, which is %d, unless the line has another one, and no limit on its requests.", atOnce, defaultSyncs))
	}
}

func (r *report) addManyLoad(mine, other many) {
	where := mine.Load
	if other.Syncs != defaultSyncs {
		where += fmt.Sprintf(", built-in with %d syncs", other.Syncs)
	}
	cpu := func(process string, m many) *float64 {
		seconds, measured := m.CPU[process]
		if !measured {
			return nil
		}
		return &seconds
	}
	value := func(v float64) *float64 { return &v }
	add := func(what string, digits int, least bool, ours, builtIn *float64) {
		if ours != nil && builtIn != nil {
			r.add("", where+": "+what, digits, ours, builtIn, &target{Limit: *builtIn, Below: !least, Least: least, BuiltIn: true})
		}
	}
	add("until all are Complete, s", 2, false, value(mine.Seconds), value(other.Seconds))
	add("Jobs per second", 1, true, value(mine.perSecond()), value(other.perSecond()))
	add("a Job's time, p50, ms", 0, false, percentile(mine.Times, 50), percentile(other.Times, 50))
	add("a Job's time, p99, ms", 0, false, percentile(mine.Times, 99), percentile(other.Times, 99))
	add("CPU of the controller, s", 2, false, cpu(procOurs, mine), cpu(procManager, other))
	add("CPU of kube-apiserver, s", 2, false, cpu(procServer, mine), cpu(procServer, other))
}
