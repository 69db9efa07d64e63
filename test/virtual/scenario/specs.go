package scenario

import batchv1 "k8s.io/api/batch/v1"

// IndexedSpec returns the spec of an Indexed Job.
func IndexedSpec(completions, parallelism int32) batchv1.JobSpec {
	mode := batchv1.IndexedCompletion
	return batchv1.JobSpec{CompletionMode: &mode, Completions: &completions, Parallelism: &parallelism}
}

// NonIndexedSpec returns the spec of a Job whose pods have no indexes.
func NonIndexedSpec(completions, parallelism, limit int32) batchv1.JobSpec {
	return batchv1.JobSpec{Completions: &completions, Parallelism: &parallelism, BackoffLimit: &limit}
}
