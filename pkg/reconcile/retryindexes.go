package reconcile

import (
	"errors"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// The annotations of an Indexed Job that retries some indexes of another. They do what a stored status does, for users who may
// not write one.
const (
	// RetryIndexesAnnotation has the indexes that the Job retries, in the format of status.completedIndexes. The others that it
	// had when it was made count as completed.
	RetryIndexesAnnotation = "batchjob.dev/retry-indexes"
	// RetryCompletionsAnnotation has spec.completions of that time: an elastic Job that is scaled up runs the indexes it gains.
	RetryCompletionsAnnotation = "batchjob.dev/retry-completions"
)

var errNoRetryIndexes = errors.New("it names no index")

// leftOutIndexes returns the indexes that the Job does not retry: they count as completed. A list that cannot be read is
// not ignored: that would run every index again.
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
		// Retries of earlier versions do not say how many completions they were made with: until their first status,
		// which lists what they leave out, they have not been scaled; afterward, the status alone counts.
		before = completions
	}
	return indexset.Below(min(before, completions)).Difference(retried), nil
}

// RetryCompletions returns the number of RetryCompletionsAnnotation, and whether there is one.
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
