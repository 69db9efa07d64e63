package explain

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
)

// FailurePolicy is spec.podFailurePolicy, with what happened to the pods that exist.
type FailurePolicy struct {
	Rules []FailureRule `json:"rules"`
	// Unmatched is how many failed pods no rule matched: they count against backoffLimit.
	Unmatched int32 `json:"unmatched,omitempty"`
	// NameViolations are what is wrong with the names of the rules (KEP-4443).
	NameViolations []string `json:"nameViolations,omitempty"`
}

// FailureRule is one rule.
type FailureRule struct {
	Index  int32  `json:"index"`
	Name   string `json:"name,omitempty"`
	Action string `json:"action"`
	// Requirement is the condition in words: "main exits with 42 or 43".
	Requirement string `json:"requirement"`
	// Matched is how many of the failed pods it matched.
	Matched int32 `json:"matched,omitempty"`
	// PassedOver is how many it was checked against but did not match, and Why the most frequent reason.
	PassedOver int32  `json:"passedOver,omitempty"`
	Why        string `json:"why,omitempty"`
	// Decided reports whether this rule decided the outcome of the Job.
	Decided bool `json:"decided,omitempty"`
}

// SuccessPolicy is spec.successPolicy with its progress.
type SuccessPolicy struct {
	Rules []SuccessRule `json:"rules"`
}

// SuccessRule is one rule.
type SuccessRule struct {
	Index int32 `json:"index"`
	// Have of Need indexes have succeeded, of those in Of; "" for any.
	Have int32  `json:"have"`
	Need int32  `json:"need"`
	Of   string `json:"of,omitempty"`
	Met  bool   `json:"met,omitempty"`
	// Impossible reports whether too many of its indexes have failed, or whether it can never be met.
	Impossible bool `json:"impossible,omitempty"`
	// Text is "3 of 5 (indexes 1-9)".
	Text string `json:"text"`
}

// Indexes are the completion indexes by state, as lists of intervals ("1-3,7"). Each index
// is in one of them.
type Indexes struct {
	Total     int32  `json:"total"`
	Completed string `json:"completed"`
	Failed    string `json:"failed"`
	Active    string `json:"active,omitempty"`
	// Ready are those of the active ones whose pod is ready.
	Ready string `json:"ready,omitempty"`
	// OutOfRange have a pod though they are beyond the completions: what was asked for is
	// less than it was. They are not in Total.
	OutOfRange string `json:"outOfRange,omitempty"`
	// Terminating have a pod that is being deleted and no other.
	Terminating string `json:"terminating,omitempty"`
	// BackingOff wait for their next pod, see Details.
	BackingOff string `json:"backingOff,omitempty"`
	Pending    string `json:"pending,omitempty"`
	// Unknown have not ended, and their state is not known: pods could not be read.
	Unknown string `json:"unknown,omitempty"`
	// CompletedCount and the others are the sizes of the lists.
	CompletedCount   int32 `json:"completedCount"`
	FailedCount      int32 `json:"failedCount"`
	ActiveCount      int32 `json:"activeCount"`
	ReadyCount       int32 `json:"readyCount,omitempty"`
	OutOfRangeCount  int32 `json:"outOfRangeCount,omitempty"`
	TerminatingCount int32 `json:"terminatingCount"`
	BackingOffCount  int32 `json:"backingOffCount"`
	PendingCount     int32 `json:"pendingCount"`
	UnknownCount     int32 `json:"unknownCount,omitempty"`
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
	// Attempt is the number of its latest pod, from 1; Attempts are how many it may have
	// (backoffLimitPerIndex+1), 0 for no limit of its own.
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

// CauseSource says how a cause is known.
type CauseSource string

// The sources, the best witness first.
const (
	SourcePods   CauseSource = "Pods"
	SourceEvents CauseSource = "Events" // the pods are gone
	// SourceCondition is the message of the Job's condition.
	SourceCondition CauseSource = "Condition"
)

// Cause is one way in which pods failed.
type Cause struct {
	// Failure is how the pods failed; nil if only the words of others tell of it.
	Failure *cause.Failure `json:"failure,omitempty"`
	// Text is one line: "Container main exited with code 137 (OOMKilled)".
	Text string `json:"text"`
	// Meaning says what an exit code or a reason means, if that is known.
	Meaning   string      `json:"meaning,omitempty"`
	Source    CauseSource `json:"source"`
	Count     int32       `json:"count"`
	Container string      `json:"container,omitempty"`
	ExitCode  *int32      `json:"exitCode,omitempty"`
	Signal    string      `json:"signal,omitempty"`
	Reason    string      `json:"reason,omitempty"`
	// Condition is the pod condition behind the failure, such as DisruptionTarget.
	Condition string `json:"condition,omitempty"`
	Rule      *int32 `json:"rule,omitempty"`
	RuleName  string `json:"ruleName,omitempty"`
	// Action is that of the rule; "" if no rule matched: the failure counts.
	Action string `json:"action,omitempty"`
	// Indexes have failed so, as a list of intervals.
	Indexes string `json:"indexes,omitempty"`
	// Pods are examples, the latest first; Jobs are set in a ReportList.
	Pods []string `json:"pods,omitempty"`
	Jobs []string `json:"jobs,omitempty"`
	// Consequence reports whether these pods were stopped because the Job was ending already.
	Consequence bool `json:"consequence,omitempty"`
	// Message is a termination message of one of them.
	Message string       `json:"message,omitempty"`
	First   *metav1.Time `json:"first,omitempty"`
	Last    *metav1.Time `json:"last,omitempty"`
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
