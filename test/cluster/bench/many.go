//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// defaultSyncs is kube-controller-manager's default of --concurrent-job-syncs.
	defaultSyncs = 5
	manySyncs    = 50
	// manyAtOnce is how many Jobs are created at the same time.
	manyAtOnce = 32
)

// many is a set of small Jobs that are created at once, measured until all are Complete.
type many struct {
	bulk
	Load string `json:"load"`
	Jobs int    `json:"jobs"`
	// Syncs is --concurrent-job-syncs of the built-in controller; 0 for ours, which runs with its default.
	Syncs int `json:"concurrentJobSyncs,omitempty"`
	// Times has each Job's duration in ms, from the request to create it until a watch shows that it is Complete.
	Times []float64 `json:"ms"`
}

func (m many) perSecond() float64 { return float64(m.Jobs) / m.Seconds }

// many measures both controllers with their defaults, and then the built-in one with more syncs at once.
func (b *bench) many(ctx context.Context) (list []many, err error) {
	run := func(s side, syncs int) error {
		for _, load := range []struct {
			jobs  int
			shape shape
		}{{b.manyJobs, shape{1, false}}, {b.manyIndexed, shape{b.manyIndexes, true}}} {
			m, err := b.manyJobsOf(ctx, s, syncs, load.jobs, load.shape)
			if err != nil {
				return err
			}
			progress("Many, %s, %s: %.1f s", m.Load, s, m.Seconds)
			list = append(list, m)
		}
		return nil
	}
	if err := b.warmUp(ctx, b.manyJobs); err != nil {
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
	jobs := b.jobs.group(s, group, n, func(int) (shape, []variant) { return each, nil })
	r, err := measured(ctx, b.api, b.processes, s, func() (took time.Duration, err error) {
		begun := time.Now()
		m.Times, err = b.api.timeEach(ctx, group, jobs)
		return time.Since(begun), err
	})
	if err != nil {
		return m, err
	}
	m.bulk = r
	return m, b.api.removeGroup(ctx, group)
}

// timeEach creates the Jobs of a group, waits until all are Complete, and returns each Job's duration in ms.
func (a api) timeEach(ctx context.Context, group string, jobs []*batchv1.Job) ([]float64, error) {
	version, err := a.version(ctx)
	if err != nil {
		return nil, err
	}
	var mutex sync.Mutex
	begun, took := map[string]time.Time{}, map[string]float64{}
	complete := func(job *batchv1.Job) (bool, error) {
		is, err := outcome(job)
		mutex.Lock()
		defer mutex.Unlock()
		if _, before := took[job.Name]; is && !before {
			took[job.Name] = 1000 * time.Since(begun[job.Name]).Seconds()
		}
		return is, err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return a.untilAll(ctx, group, version, len(jobs), complete) })
	creations := make(chan *batchv1.Job, len(jobs))
	for _, job := range jobs {
		creations <- job
	}
	close(creations)
	for range manyAtOnce {
		work.Go(func() error {
			for job := range creations {
				mutex.Lock()
				begun[job.Name] = time.Now()
				mutex.Unlock()
				if _, err := a.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	var list []float64
	for _, job := range jobs {
		list = append(list, took[job.Name])
	}
	return list, nil
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
			"kube-controller-manager has its default of --concurrent-job-syncs, which is %d, unless the line has another one, and no limit on its requests.", manyAtOnce, defaultSyncs))
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
