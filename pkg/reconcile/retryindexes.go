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

// leaveOut counts the indexes that the Job does not retry as completed. A list that cannot be read is
// not ignored: that would run every index again.
func (s *state) leaveOut() {
	text, limited := s.job.Annotations[RetryIndexesAnnotation]
	if !limited {
		return
	}
	retried, err := indexset.Parse(text)
	if err == nil && retried.IsEmpty() {
		err = errNoRetryIndexes
	}
	if err != nil {
		s.plan.Findings.BadRetryIndexes = unreadable(RetryIndexesAnnotation, err)
		return
	}
	completions, err := s.retryCompletions()
	if err != nil {
		s.plan.Findings.BadRetryIndexes = unreadable(RetryCompletionsAnnotation, err)
		return
	}
	leftOut := indexset.Below(min(completions, s.completions)).Difference(retried)
	s.completedIndexes = s.completedIndexes.Union(leftOut)
}

func unreadable(annotation string, err error) string {
	return fmt.Sprintf("%s cannot be read: %v", annotation, err)
}

// retryCompletions returns the spec.completions with which the retry was made. Retries of earlier versions do not say it:
// until their first status, which lists what they leave out, they have not been scaled; afterward, the status alone counts.
func (s *state) retryCompletions() (int32, error) {
	completions, known, err := RetryCompletions(s.job.Annotations)
	if !known && isUntouched(&s.job.Status) {
		return s.completions, nil
	}
	return completions, err
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
