package explain

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Indexes holds the completion indexes by state, as lists of intervals ("1-3,7"). Each index is in one of the lists.
type Indexes struct {
	Total     int32  `json:"total"`
	Completed string `json:"completed"`
	// Failed are the indexes that have failed. Without backoffLimitPerIndex, it is the index whose pod decided that the Job failed.
	Failed string `json:"failed"`
	// FailedList lists the Failed indexes one by one, see ListIndexes.
	FailedList []int32 `json:"failedList,omitempty"`
	Active     string  `json:"active,omitempty"`
	// Ready are the active indexes whose pod is ready.
	Ready string `json:"ready,omitempty"`
	// OutOfRange are indexes with a pod beyond the completions, which were reduced. They are not in Total.
	OutOfRange string `json:"outOfRange,omitempty"`
	// Terminating are the indexes whose only pod is being deleted, except the indexes in BackingOff.
	Terminating string `json:"terminating,omitempty"`
	// BackingOff are the indexes that wait for the end of their back-off, see Details.
	BackingOff string `json:"backingOff,omitempty"`
	// Pending are the indexes without a pod. Each of them is in one of NotStarted, Retrying and WillNotComplete.
	Pending string `json:"pending,omitempty"`
	// NotStarted are the indexes without a known pod so far.
	NotStarted string `json:"notStarted,omitempty"`
	// Retrying are the indexes that failed and wait for their next pod without a back-off of their own: for the back-off of
	// the Job, or for room.
	Retrying string `json:"retrying,omitempty"`
	// WillNotComplete are the indexes that get no more pods, as the end of the Job is decided. Some may have been stopped.
	WillNotComplete string `json:"willNotComplete,omitempty"`
	// Unknown are the indexes that have not ended and whose state is unknown, as pods could not be read.
	Unknown string `json:"unknown,omitempty"`
	// CompletedCount and the others are the sizes of the lists.
	CompletedCount       int32 `json:"completedCount"`
	FailedCount          int32 `json:"failedCount"`
	ActiveCount          int32 `json:"activeCount"`
	ReadyCount           int32 `json:"readyCount,omitempty"`
	OutOfRangeCount      int32 `json:"outOfRangeCount,omitempty"`
	TerminatingCount     int32 `json:"terminatingCount"`
	BackingOffCount      int32 `json:"backingOffCount"`
	PendingCount         int32 `json:"pendingCount"`
	NotStartedCount      int32 `json:"notStartedCount,omitempty"`
	RetryingCount        int32 `json:"retryingCount,omitempty"`
	WillNotCompleteCount int32 `json:"willNotCompleteCount,omitempty"`
	UnknownCount         int32 `json:"unknownCount,omitempty"`
	// Rerun is the number of indexes that a retry runs, and RerunCompleted the number of these that completed. The other
	// indexes count as completed from the beginning. Both are 0 for a Job that runs all of its indexes.
	Rerun          int32 `json:"rerun,omitempty"`
	RerunCompleted int32 `json:"rerunCompleted,omitempty"`
	// Details are the indexes with failures: failed, in back-off, or running again; DetailsOmitted is the number left out.
	Details        []IndexInfo `json:"details,omitempty"`
	DetailsOmitted int32       `json:"detailsOmitted,omitempty"`
}

// IndexInfo describes one index.
type IndexInfo struct {
	Index int32 `json:"index"`
	// State is Completed, Failed, Active, Terminating, BackingOff, Pending or Unknown.
	State string `json:"state"`
	// Attempt is the 1-based number of the latest pod; for a completed index, of the pod that succeeded, or 0 if that pod is
	// gone. Attempts is the maximum number of pods (backoffLimitPerIndex+1), 0 without such a limit.
	Attempt  int32 `json:"attempt,omitempty"`
	Attempts int32 `json:"attempts,omitempty"`
	// Failures counts the failures that count against backoffLimitPerIndex, Ignored the others.
	Failures int32 `json:"failures,omitempty"`
	Ignored  int32 `json:"ignored,omitempty"`
	// Until is the end of the back-off.
	Until *metav1.Time `json:"until,omitempty"`
	// Pod is the latest pod; Cause describes the last failure in words, and Failure as a value.
	Pod     string         `json:"pod,omitempty"`
	Cause   string         `json:"cause,omitempty"`
	Failure *cause.Failure `json:"failure,omitempty"`
}

// States of an IndexInfo.
const (
	IndexCompleted   = "Completed"
	IndexFailed      = "Failed"
	IndexActive      = "Active"
	IndexTerminating = "Terminating"
	IndexBackingOff  = "BackingOff"
	IndexPending     = "Pending"
	IndexUnknown     = "Unknown"
)

// maxListed is the maximum length of a list of numbers.
const maxListed = 10_000

// ListIndexes returns the indexes in a list of intervals such as "1,3-5", nil if the text cannot be parsed, or if there are
// more than 10,000.
func ListIndexes(text string) []int32 {
	set, err := indexset.Parse(text)
	if err != nil || set.Len() > maxListed {
		return nil
	}
	return slices.Collect(set.All())
}
