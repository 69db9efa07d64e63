package reconcile

import (
	"errors"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Annotations of an Indexed Job that retries some indexes of another Job. They have the effect of a stored status, for
// users who may not write one.
const (
	// RetryIndexesAnnotation holds the indexes that the Job retries, in the format of status.completedIndexes. The other
	// indexes that the Job had when it was created count as completed.
	RetryIndexesAnnotation = "batchjob.dev/retry-indexes"
	// RetryCompletionsAnnotation holds spec.completions at the creation of the Job: an elastic Job that is scaled up
	// runs the indexes it gains.
	RetryCompletionsAnnotation = "batchjob.dev/retry-completions"
)

var errNoRetryIndexes = errors.New("it names no index")

// leftOutIndexes returns the indexes that the Job does not retry, which count as completed. A list that cannot be read
// is an error: ignoring it would run every index again.
func leftOutIndexes(job *batchv1.Job, completions int32) (indexset.Set, error) {
	text, limited := job.Annotations[RetryIndexesAnnotation]
	if !limited {
		return indexset.Set{}, nil
	}
	retried, err := indexset.Parse(text)
	if err == nil && retried.IsEmpty() {
		err = errNoRetryIndexes
	}
	if err != nil {
		return indexset.Set{}, fmt.Errorf("%s cannot be read: %w", RetryIndexesAnnotation, err)
	}
	before, known, err := RetryCompletions(job.Annotations)
	if err != nil {
		return indexset.Set{}, fmt.Errorf("%s cannot be read: %w", RetryCompletionsAnnotation, err)
	}
	if !known && isUntouched(&job.Status) {
		// Retries of earlier versions do not store the number of completions at their creation: until their first status,
		// which lists the indexes they leave out, they have not been scaled; afterward, the status alone counts.
		before = completions
	}
	return indexset.Below(min(before, completions)).Difference(retried), nil
}

// RetryCompletions returns the value of RetryCompletionsAnnotation, and whether the annotation is set.
func RetryCompletions(annotations map[string]string) (completions int32, known bool, err error) {
	text, known := annotations[RetryCompletionsAnnotation]
	if !known {
		return 0, false, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, true, fmt.Errorf("%q is no number of completions", text)
	}
	return int32(n), true, nil
}

// isUntouched reports whether no controller has written the status yet.
func isUntouched(status *batchv1.JobStatus) bool {
	return status.StartTime == nil && len(status.Conditions) == 0
}
