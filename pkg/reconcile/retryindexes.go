package reconcile

import (
	"errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// RetryIndexesAnnotation has the indexes that an Indexed Job runs, in the format of status.completedIndexes: it retries
// them, and all others count as completed. It does what a stored status does, for those who may not write one.
const RetryIndexesAnnotation = "batchjob.dev/retry-indexes"

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
		s.plan.Findings.BadRetryIndexes = err.Error()
		return
	}
	s.completedIndexes = s.completedIndexes.Union(indexset.Below(s.completions).Difference(retried))
}
