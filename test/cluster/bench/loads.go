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

// load is a way to keep a controller busy; run returns its duration.
type load struct {
	what string
	run  func(context.Context, side) (time.Duration, error)
}

// loadsOf returns loads with a Job of n indexes, all of which succeed or all of which fail, with and without a limit per
// index.
func loadsOf(b *bench, n int) []load {
	succeed, fail := fmt.Sprintf("%d indexes succeed", n), fmt.Sprintf("%d indexes fail", n)
	return []load{
		{succeed, b.succeeding(n)},
		{succeed + ", limit per index", b.succeeding(n, perIndex(1))},
		{fail, b.failing(n, patient)},
		{fail + ", limit per index", b.failing(n, perIndex(0))},
	}
}

// timeJob runs a Job until reached returns true, and removes it. On the floor, the bare client runs the Job; the time is
// its own measurement, without the creation of the Job.
func (b *bench) timeJob(ctx context.Context, s side, group string, job *batchv1.Job, reached func(*batchv1.Job) (bool, error)) (took time.Duration, err error) {
	begun := time.Now()
	if s == floor {
		_, took, err = b.launched.bare.run(ctx, job)
	} else {
		_, err = b.api.runGroup(ctx, group, []*batchv1.Job{job}, reached)
		took = time.Since(begun)
	}
	if err != nil {
		return 0, err
	}
	return took, b.api.removeGroup(ctx, group)
}

// succeeding runs one Job, timed from creation to completion.
func (b *bench) succeeding(n int, variants ...variant) func(context.Context, side) (time.Duration, error) {
	return func(ctx context.Context, s side) (time.Duration, error) {
		group := fmt.Sprintf("succeeding-%d", b.jobs.made)
		return b.timeJob(ctx, s, group, b.jobs.job(s, shape{n, true}, append(variants, inGroup(group))...), outcome)
	}
}

// failing runs one Job whose pods all fail once all of them run, timed from creation until all failures are counted.
func (b *bench) failing(n int, variants ...variant) func(context.Context, side) (time.Duration, error) {
	return func(ctx context.Context, s side) (took time.Duration, err error) {
		group := fmt.Sprintf("failing-%d", b.jobs.made)
		job := b.jobs.job(s, shape{n, true}, append(variants, running(forever), inGroup(group))...)
		work, ctx := errgroup.WithContext(ctx)
		pods, err := b.api.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return 0, err
		}
		work.Go(func() error { return b.api.failAll(ctx, group, pods.ResourceVersion, n) })
		work.Go(func() (err error) {
			took, err = b.timeJob(ctx, s, group, job, hasFailed(n))
			return err
		})
		return took, work.Wait()
	}
}

// failAll waits until n pods of the group run, then makes all of them fail.
func (a api) failAll(ctx context.Context, group, version string, n int) error {
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
