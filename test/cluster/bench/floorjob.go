//go:build unix

package main

import (
	"context"
	"errors"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

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
