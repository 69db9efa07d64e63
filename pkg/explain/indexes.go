package explain

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Indexes are the completion indexes by state, as lists of intervals ("1-3,7"). Each index
// is in one of them.
type Indexes struct {
	Total     int32  `json:"total"`
	Completed string `json:"completed"`
	Failed    string `json:"failed"`
	// FailedList has each of the Failed, see ListIndexes.
	FailedList []int32 `json:"failedList,omitempty"`
	Active     string  `json:"active,omitempty"`
	// Ready are those of the active ones whose pod is ready.
	Ready string `json:"ready,omitempty"`
	// OutOfRange have a pod though they are beyond the completions: what was asked for is
	// less than it was. They are not in Total.
	OutOfRange string `json:"outOfRange,omitempty"`
	// Terminating have a pod that is being deleted and no other, and are not in BackingOff.
	Terminating string `json:"terminating,omitempty"`
	// BackingOff wait for their next pod, see Details.
	BackingOff string `json:"backingOff,omitempty"`
	// Pending have no pod. Each of them is in one of NotStarted, Retrying and WillNotComplete.
	Pending string `json:"pending,omitempty"`
	// NotStarted have had no pod that is known of.
	NotStarted string `json:"notStarted,omitempty"`
	// Retrying have failed, and wait for their next pod without a back-off of their own: for
	// that of the Job, or for room.
	Retrying string `json:"retrying,omitempty"`
	// WillNotComplete get no pod anymore: the end of the Job is decided. Some may have been stopped.
	WillNotComplete string `json:"willNotComplete,omitempty"`
	// Unknown have not ended, and their state is not known: pods could not be read.
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
	// Rerun is how many indexes a retry runs, and RerunCompleted how many of these completed. The others count as completed from
	// the beginning. Both are 0 for a Job that runs all of its indexes.
	Rerun          int32 `json:"rerun,omitempty"`
	RerunCompleted int32 `json:"rerunCompleted,omitempty"`
	// Details are indexes with failures: failed ones, those in back-off, those that run
	// again; DetailsOmitted more are left out.
	Details        []IndexInfo `json:"details,omitempty"`
	DetailsOmitted int32       `json:"detailsOmitted,omitempty"`
}

// IndexInfo is one index.
type IndexInfo struct {
	Index int32 `json:"index"`
	// State is Completed, Failed, Active, Terminating, BackingOff, Pending or Unknown.
	State string `json:"state"`
	// Attempt is the number of its latest pod, from 1; of a completed index, of the pod that
	// succeeded, 0 if that is gone. Attempts are how many it may have (backoffLimitPerIndex+1), 0
	// for no limit of its own.
	Attempt  int32 `json:"attempt,omitempty"`
	Attempts int32 `json:"attempts,omitempty"`
	// Failures count against backoffLimitPerIndex, Ignored do not.
	Failures int32 `json:"failures,omitempty"`
	Ignored  int32 `json:"ignored,omitempty"`
	// Until is when its back-off ends.
	Until *metav1.Time `json:"until,omitempty"`
	// Pod is the latest of its pods; Cause is why its last failure happened, and Failure the
	// same as a value.
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

// Crop cuts a list of intervals after the first comma at or behind limit bytes, as kubectl
// describe does; "…" stands for the rest.
func Crop(list string, limit int) string { return CropWith(list, limit, "…") }

// CropWith is Crop with another ellipsis.
func CropWith(list string, limit int, ellipsis string) string {
	if len(list) <= limit {
		return list
	}
	comma := strings.IndexByte(list[limit:], ',')
	if comma < 0 {
		return list
	}
	return list[:limit+comma+1] + ellipsis
}

// maxListed is how many indexes a list of numbers has.
const maxListed = 10_000

// ListIndexes returns each index of a list of intervals such as "1,3-5", nil if the text is not one, or if there are more
// than 10,000.
func ListIndexes(text string) []int32 {
	set, err := indexset.Parse(text)
	if err != nil || set.Len() > maxListed {
		return nil
	}
	return slices.Collect(set.All())
}
