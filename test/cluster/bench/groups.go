//go:build unix

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// groupOf returns options that select the Jobs of a group, and their pods.
func groupOf(name string) metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: groupLabel + "=" + name}
}

// atOnce is how many Jobs of a group are created at the same time.
const atOnce = 32

// runGroup creates the Jobs of a group and waits until reached returns true for each. It returns each Job's time in ms,
// from the request to create it.
func (a api) runGroup(ctx context.Context, group string, jobs []*batchv1.Job, reached func(*batchv1.Job) (bool, error)) ([]float64, error) {
	// A watch from this version on misses no change of the Jobs.
	before, err := a.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	var mutex sync.Mutex
	begun, took := map[string]time.Time{}, map[string]float64{}
	timed := func(job *batchv1.Job) (bool, error) {
		is, err := reached(job)
		mutex.Lock()
		defer mutex.Unlock()
		if _, known := took[job.Name]; is && !known {
			took[job.Name] = 1000 * time.Since(begun[job.Name]).Seconds()
		}
		return is, err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(1 + atOnce)
	work.Go(func() error { return a.untilAll(ctx, group, before.ResourceVersion, len(jobs), timed) })
	for _, job := range jobs {
		work.Go(func() error {
			mutex.Lock()
			begun[job.Name] = time.Now()
			mutex.Unlock()
			_, err := a.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{})
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	var times []float64
	for _, job := range jobs {
		times = append(times, took[job.Name])
	}
	return times, nil
}

// untilAll waits until reached returns true for n Jobs of the group, in a watch that starts at version.
func (a api) untilAll(ctx context.Context, group, version string, n int, reached func(*batchv1.Job) (bool, error)) error {
	there := map[types.UID]bool{}
	options := groupOf(group)
	options.ResourceVersion = version
	err := follow(ctx, a.BatchV1().Jobs(namespace).Watch, options, func(_ watch.EventType, job *batchv1.Job) (bool, error) {
		is, err := reached(job)
		if is {
			there[job.UID] = true
		}
		return len(there) == n, err
	})
	if err != nil {
		return fmt.Errorf("waiting for the Jobs of %s, of which %d of %d are there: %w", group, len(there), n, err)
	}
	return nil
}

// removeGroup deletes the Jobs and their pods. It deletes the pods itself, as the garbage collector may have a rate
// limit.
func (a api) removeGroup(ctx context.Context, group string) error {
	background := metav1.DeletePropagationBackground
	err := a.BatchV1().Jobs(namespace).DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &background}, groupOf(group))
	if err != nil {
		return err
	}
	return a.removePods(ctx, groupOf(group))
}

// removalLimit is the time limit for removing the pods of one Job, or of a group. It does not depend on --timeout: what was
// measured before would be lost.
const removalLimit = time.Hour

// removePods deletes pods, up to 500 per request, until none exist.
func (a api) removePods(ctx context.Context, selected metav1.ListOptions) error {
	ctx, cancel := context.WithTimeout(ctx, removalLimit)
	defer cancel()
	const some = 500
	selected.Limit = some
	now, pace := int64(0), newPace()
	for removed := 0; ; removed += some {
		pace.progress("Removing pods: about %d are gone", removed)
		list, err := a.CoreV1().Pods(namespace).List(ctx, selected)
		if err != nil || len(list.Items) == 0 {
			return err
		}
		err = a.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, selected)
		if err != nil && !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) {
			return err
		}
		if err := sleep(ctx, removePause); err != nil {
			return err
		}
	}
}

// removePause is time for the controller, which may have to remove finalizers first.
const removePause = 20 * time.Millisecond
