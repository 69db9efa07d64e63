//go:build unix

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// referenceQPS is the request limit of the KEPs' measurements.
const referenceQPS qps = 100

// timing is the duration of a load from a KEP.
type timing struct {
	Side    side    `json:"side"`
	What    string  `json:"what"`
	Seconds float64 `json:"seconds"`
	// Reference is the KEP's time, 0 for none.
	Reference float64 `json:"reference,omitempty"`
	ID        string  `json:"id"`
	// Without is the same load without the feature, "" for none.
	Without string `json:"without,omitempty"`
}

// referenceTimes has the times of KEP-3850, in seconds, by the number of indexes.
var referenceTimes = map[int]struct{ succeed, fail float64 }{
	10: {3.0, 3.0}, 100: {3.1, 3.0}, 1000: {19.4, 21}, 10_000: {223, 202},
}

// load is a way to keep a controller busy; run returns its duration.
type load struct {
	what      string
	id        string
	without   string
	reference float64
	run       func(context.Context, side) (time.Duration, error)
}

func (b *bench) references(ctx context.Context) ([]timing, error) {
	if err := b.limit(ctx, referenceQPS); err != nil {
		return nil, err
	}
	var list []timing
	for i, l := range b.loads() {
		order := turns(2, ours, builtIn)[2*(i%2):][:2]
		for _, s := range order {
			ctx, cancel := context.WithTimeout(ctx, b.timeout)
			took, err := l.run(ctx, s)
			cancel()
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", l.what, s, err)
			}
			progress("Reference: %s, %s: %.1f s", l.what, s, took.Seconds())
			list = append(list, timing{s, l.what, took.Seconds(), l.reference, l.id, l.without})
		}
	}
	return list, nil
}

func (b *bench) loads() []load {
	var loads []load
	for _, n := range b.sizes {
		loads = append(loads, loadsOf(b, n)...)
	}
	if !b.mixes {
		return loads
	}
	small, large := mix{{100, 10}, {1, 200}}, mix{{296, 9}, {42, 8}}
	return append(loads,
		load{"101 Indexed Jobs, 1200 pods", "SCL-08", "", 33.4, b.mixed(small, true)},
		load{"101 NonIndexed Jobs, 1200 pods", "SCL-08", "", 34.2, b.mixed(small, false)},
		load{"338 Jobs, 3000 pods of 30 s", "SCL-08", "", 71, b.mixed(large, false, running(30*time.Second))},
	)
}

// loadsOf returns loads with a Job of n indexes, all of which succeed or all of which fail, with and without a limit per
// index.
func loadsOf(b *bench, n int) []load {
	indexes, times := shape{n, true}, referenceTimes[n]
	succeed, fail := fmt.Sprintf("%d indexes succeed", n), fmt.Sprintf("%d indexes fail", n)
	return []load{
		{succeed, "SCL-07", "", times.succeed, b.succeeding(indexes)},
		{succeed + ", limit per index", "SCL-07", succeed, times.succeed, b.succeeding(indexes, perIndex(1))},
		{fail, "SCL-07", "", times.fail, b.failing(indexes, patient)},
		{fail + ", limit per index", "SCL-07", fail, times.fail, b.failing(indexes, perIndex(0))},
	}
}

// timeGroup runs Jobs until reached returns true for each Job, and removes them. On the floor, the bare client runs the
// Jobs; the time is its own measurement, without the creation of the Job.
func timeGroup(ctx context.Context, b *bench, s side, group string, jobs []*batchv1.Job, reached func(*batchv1.Job) (bool, error)) (took time.Duration, err error) {
	if s != floor {
		begun := time.Now()
		if err := b.api.runGroup(ctx, group, jobs, reached); err != nil {
			return 0, err
		}
		took = time.Since(begun)
		return took, b.api.removeGroup(ctx, group)
	}
	for _, job := range jobs {
		_, one, err := b.launched.bare.run(ctx, job, b.concurrency)
		if err != nil {
			return 0, err
		}
		took += one
	}
	return took, b.api.removeGroup(ctx, group)
}

// succeeding runs one Job, timed from creation to completion.
func (b *bench) succeeding(indexes shape, variants ...variant) func(context.Context, side) (time.Duration, error) {
	return func(ctx context.Context, s side) (time.Duration, error) {
		group := fmt.Sprintf("succeeding-%d", b.jobs.made)
		jobs := b.jobs.group(s, group, 1, func(int) (shape, []variant) { return indexes, variants })
		return timeGroup(ctx, b, s, group, jobs, isComplete)
	}
}

// failing runs one Job whose pods all fail once all of them run, timed from creation until all failures are counted.
// (The KEP's run instead ends with the creation of the replacement pods, without back-off, which takes as many
// requests.)
func (b *bench) failing(indexes shape, variants ...variant) func(context.Context, side) (time.Duration, error) {
	return func(ctx context.Context, s side) (took time.Duration, err error) {
		group := fmt.Sprintf("failing-%d", b.jobs.made)
		jobs := b.jobs.group(s, group, 1, func(int) (shape, []variant) { return indexes, append([]variant{running(forever)}, variants...) })
		work, ctx := errgroup.WithContext(ctx)
		pods, err := b.api.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return 0, err
		}
		work.Go(func() error { return b.api.failAll(ctx, group, pods.ResourceVersion, indexes.pods, b.concurrency) })
		work.Go(func() (err error) {
			took, err = timeGroup(ctx, b, s, group, jobs, hasFailed(indexes.pods))
			return err
		})
		return took, work.Wait()
	}
}

// failAll waits until n pods of the group run, then makes all of them fail.
func (a api) failAll(ctx context.Context, group, version string, n, concurrency int) error {
	run := map[types.UID]string{}
	options := groupOf(group)
	options.ResourceVersion = version
	err := follow(ctx, a.CoreV1().Pods(namespace).Watch, options, func(_ watch.EventType, pod *corev1.Pod) (bool, error) {
		if pod.Status.Phase == corev1.PodRunning {
			run[pod.UID] = pod.Name
		}
		return len(run) == n, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the pods of %s, of which %d of %d run: %w", group, len(run), n, err)
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(concurrency)
	for _, name := range run {
		work.Go(func() error {
			_, err := a.CoreV1().Pods(namespace).Patch(ctx, name, types.MergePatchType, []byte(`{"status":{"phase":"Failed"}}`), metav1.PatchOptions{}, "status")
			return err
		})
	}
	return work.Wait()
}

// mix is a set of Jobs of several sizes.
type mix []struct{ jobs, pods int }

// mixed runs a mix of Jobs, all created at once, timed until the last Job has ended.
func (b *bench) mixed(m mix, indexed bool, variants ...variant) func(context.Context, side) (time.Duration, error) {
	return func(ctx context.Context, s side) (time.Duration, error) {
		group := fmt.Sprintf("mixed-%d", b.jobs.made)
		var jobs []*batchv1.Job
		for _, part := range m {
			jobs = append(jobs, b.jobs.group(s, group, part.jobs, func(int) (shape, []variant) { return shape{part.pods, indexed}, variants })...)
		}
		return timeGroup(ctx, b, s, group, jobs, isComplete)
	}
}
