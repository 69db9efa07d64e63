//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// floor creates the pods of a Job and removes the finalizer of each when it ends: the work that no controller can avoid,
// and nothing else. The Job exists only to own the pods; no controller reconciles it.
func (a api) floor(ctx context.Context, job *batchv1.Job) (*batchv1.Job, time.Duration, error) {
	job, err := a.BatchV1().Jobs(job.Namespace).Create(ctx, job, metav1.CreateOptions{})
	if err != nil {
		return nil, 0, err
	}
	options := podsOf(job)
	none, err := a.CoreV1().Pods(job.Namespace).List(ctx, options)
	if err != nil {
		return nil, 0, err
	}
	options.ResourceVersion = none.ResourceVersion
	n := int(*job.Spec.Completions)
	create, strip := make(chan int, n), make(chan *corev1.Pod, n)
	for i := range n {
		create <- i
	}
	close(create)
	begun := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return ended(ctx, a.CoreV1().Pods(job.Namespace).Watch, options, n, strip) })
	for range concurrency {
		group.Go(func() error { return a.floorWorker(ctx, job, create, strip) })
	}
	err = group.Wait()
	return job, time.Since(begun), err
}

// ended sends each of n pods once, when it succeeds or fails.
func ended(ctx context.Context, from watchFunc, options metav1.ListOptions, n int, to chan<- *corev1.Pod) error {
	defer close(to)
	seen, pace, begun := map[types.UID]bool{}, newPace(), time.Now()
	return follow(ctx, from, options, func(_ watch.EventType, pod *corev1.Pod) (bool, error) {
		if hasEnded(pod) && !seen[pod.UID] {
			seen[pod.UID] = true
			to <- pod
		}
		pace.progress("The bare client: %d of %d pods ended after %.0f s", len(seen), n, time.Since(begun).Seconds())
		return len(seen) == n, nil
	})
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// floorWorker makes one request after the other until both channels are closed.
func (a api) floorWorker(ctx context.Context, job *batchv1.Job, create <-chan int, strip <-chan *corev1.Pod) error {
	pods := a.CoreV1().Pods(job.Namespace)
	for {
		select {
		case i, more := <-create:
			if !more {
				create = nil
				continue
			}
			if _, err := pods.Create(ctx, floorPod(job, i), metav1.CreateOptions{}); err != nil {
				return err
			}
		case pod, more := <-strip:
			if !more {
				return nil
			}
			if _, err := pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, stripPatch(pod.UID), metav1.PatchOptions{}); err != nil {
				return err
			}
		}
	}
}

func stripPatch(uid types.UID) []byte {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":                                 uid,
		"$deleteFromPrimitiveList/finalizers": []string{batchv1.JobTrackingFinalizer},
	}})
	if err != nil {
		panic(err) // strings only
	}
	return patch
}

// floorJob runs a Job of one pod with the same writes as our controller, each as soon as the previous one has returned.
// It spends no time on decisions or on a watch of the Job.
func (a api) floorJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, time.Duration, error) {
	pods := a.CoreV1().Pods(job.Namespace)
	none, err := pods.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, 0, err
	}
	// As a controller's watch, this one is open before the Job is created.
	w, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: none.ResourceVersion})
	if err != nil {
		return nil, 0, err
	}
	begun := time.Now()
	job, err = a.BatchV1().Jobs(job.Namespace).Create(ctx, job, metav1.CreateOptions{})
	if err != nil {
		return nil, 0, err
	}
	pod, err := pods.Create(ctx, floorPod(job, 0), metav1.CreateOptions{})
	if err != nil {
		return nil, 0, err
	}
	status := batchv1.JobStatus{StartTime: ptr.To(metav1.Now()), Active: 1, Terminating: ptr.To[int32](0), UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}
	if err := a.putStatus(ctx, job, status); err != nil {
		return nil, 0, err
	}
	if err := untilSucceeded(ctx, w, pod.UID); err != nil {
		return nil, 0, err
	}
	status.Active, status.UncountedTerminatedPods = 0, &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{pod.UID}}
	if err := a.putStatus(ctx, job, status); err != nil {
		return nil, 0, err
	}
	if _, err := pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, stripPatch(pod.UID), metav1.PatchOptions{}); err != nil {
		return nil, 0, err
	}
	status.Succeeded, status.UncountedTerminatedPods, status.CompletionTime = 1, &batchv1.UncountedTerminatedPods{}, ptr.To(metav1.Now())
	for _, t := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		status.Conditions = append(status.Conditions, batchv1.JobCondition{Type: t, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonCompletionsReached})
	}
	err = a.putStatus(ctx, job, status)
	return job, time.Since(begun), err
}

func untilSucceeded(ctx context.Context, w watch.Interface, pod types.UID) error {
	ended, err := drain(ctx, w, func(_ watch.EventType, seen *corev1.Pod) (bool, error) {
		return seen.UID == pod && seen.Status.Phase == corev1.PodSucceeded, nil
	})
	if err == nil && !ended {
		err = errors.New("the API server ended the watch of pods")
	}
	return err
}

func (a api) putStatus(ctx context.Context, job *batchv1.Job, status batchv1.JobStatus) error {
	job.Status = status
	stored, err := a.BatchV1().Jobs(job.Namespace).UpdateStatus(ctx, job, metav1.UpdateOptions{})
	if err == nil {
		*job = *stored
	}
	return err
}
