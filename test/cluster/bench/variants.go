//go:build unix

package main

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// variant modifies a Job made by newJob.
type variant func(*batchv1.Job)

// groupLabel marks the Jobs that form one load, and their pods.
const groupLabel = "bench.batchjob.dev/group"

func inGroup(name string) variant {
	return func(job *batchv1.Job) {
		job.Labels = map[string]string{groupLabel: name}
		job.Spec.Template.Labels = map[string]string{groupLabel: name}
	}
}

// running makes the pods run for this long before they succeed.
func running(d time.Duration) variant {
	return func(job *batchv1.Job) {
		job.Spec.Template.Annotations = map[string]string{"kwok.batchjob.dev/run-time": d.String()}
	}
}

// forever is longer than any test waits.
const forever = 24 * time.Hour

// perIndex sets backoffLimitPerIndex: 0 or 1 failures.
func perIndex(failures int32) variant {
	return func(job *batchv1.Job) { job.Spec.BackoffLimitPerIndex = &failures }
}

// patient allows any number of failures.
func patient(job *batchv1.Job) { job.Spec.BackoffLimit = ptr.To(int32(1 << 30)) }

// hasFailed returns a condition: this many pods of the Job have failed and are counted.
func hasFailed(pods int) func(*batchv1.Job) (bool, error) {
	return func(job *batchv1.Job) (bool, error) {
		uncounted := ptr.Deref(job.Status.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{})
		return job.Status.Failed == int32(pods) && len(uncounted.Failed) == 0, nil
	}
}
