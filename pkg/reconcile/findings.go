package reconcile

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/successpolicy"
)

// Findings are the reasons behind a plan, with their evidence; fields without a finding are zero. The pods are shared
// with the Observation, and must not be changed.
type Findings struct {
	// RuleNames are the names of the rules of the podFailurePolicy. Violations are the errors in the annotation; if
	// there are any, the annotation is ignored (PFN-25).
	RuleNames  rulename.Names
	Violations []rulename.Violation
	// UnknownMode is a completionMode that this version does not know. The plan is then empty.
	UnknownMode batchv1.CompletionMode
	// BadRetryIndexes is the error about a retry annotation that cannot be read: its name, "cannot be read", and the
	// reason. The plan is then empty.
	BadRetryIndexes string
	// UnsupportedScheduling names the fields of the Job that require a PodGroup, which is not supported. No pods are
	// then created (JOB-64).
	UnsupportedScheduling string
	// RestartsNotPerIndex reports whether containers restart in place, which
	// backoffLimitPerIndex does not count (D-16).
	RestartsNotPerIndex bool
	// DamagedIndexes counts the fragments of stored index lists that cannot be read.
	DamagedIndexes int32
	CountKept      *CountKept

	// Verdicts are the results of the podFailurePolicy for pods in phase Failed: for the pods not yet recorded, or, from
	// Review, for all.
	Verdicts []FailedPod
	// Unreported are failed pods to which the podFailurePolicy is not applied yet.
	Unreported []Unreported
	// NotCounted are finished pods that no status will count.
	NotCounted []NotCounted
	// RecordedFailed are the failed pods that the next status is the first to record. Unrecorded counts the finished
	// pods that do not fit into it.
	RecordedFailed []FailedPod
	Unrecorded     int32
	// IndexFailures are failed pods whose failure is the last of their index (KEP-3850).
	IndexFailures []FailedPod
	// CompletedIndexes and FailedIndexes are the index sets of the next status.
	CompletedIndexes, FailedIndexes indexset.Set

	// BackoffLimit, Deadline, MaxFailedIndexes and SuccessRules show how far the Job is from its limits and from
	// success. The first that applies ends the Job, and later ones are not evaluated. Deadline is the time at which
	// activeDeadlineSeconds is over.
	BackoffLimit     *BackoffLimit
	Deadline         time.Time
	MaxFailedIndexes *MaxFailedIndexes
	SuccessRules     []successpolicy.Progress
	// Outcome is the result of the Job, once it is decided.
	Outcome          *InterimCondition
	WaitFinish       *WaitFinish
	TooManySucceeded *TooManySucceeded

	// Excess are pods to remove because more pods run than are wanted; Misfits because their index is missing, out of
	// range, finished, or used by another pod; Untracked because they run without the tracking finalizer.
	Excess, Misfits, Untracked []*Pod
	// Backoff delays all creation. WaitTerminating is the number of terminating pods that are not replaced before they
	// have ended (podReplacementPolicy Failed, KEP-3939).
	Backoff         *Backoff
	WaitTerminating int32
	// AwaitReplacement are the failed pods that are not counted before the next pod of their index exists, in the order
	// of the indexes (KEP-3850).
	AwaitReplacement []AwaitsReplacement
	// RetryHeld reports whether an index would get its next pod now but for the back-off.
	RetryHeld bool
}

// FailedPod is a pod that failed, or that counts as failed.
type FailedPod struct {
	Pod *Pod
	// Match is the verdict of the podFailurePolicy; nil if it was not applied.
	Match *failurepolicy.Match
}

// Unreported is a failed pod whose status does not show yet how it ended, with the time until which to wait for it (ADR
// 0012).
type Unreported struct {
	Pod   *Pod
	Until time.Time
}

// NotCounted is a finished pod that no status will count.
type NotCounted struct {
	Pod *Pod
	Why NotCountedReason
}

// NotCountedReason is the reason that a finished pod is not counted, as part of a sentence about the pod.
type NotCountedReason string

const (
	// OutOfRange is for pods without an index of the Job (TRK-29).
	OutOfRange NotCountedReason = "its completion index is missing or out of range"
	// IndexFailedBefore is for a pod that succeeded too late (BLI-12).
	IndexFailedBefore NotCountedReason = "its index has already failed"
	// DeletedAfterSuccess is for pods that the controller deleted (SUC-14).
	DeletedAfterSuccess NotCountedReason = "it was deleted because the Job has succeeded"
	// IgnoredByRule is for failures with action Ignore (PFP-05).
	IgnoredByRule NotCountedReason = "a rule of the podFailurePolicy ignores the failure"
)

// AwaitsReplacement is a failed pod whose failure count passes to the next pod of its index.
// After Failures in a row, the index is in back-off until Until.
type AwaitsReplacement struct {
	FailedPod
	Failures int32
	Until    time.Time
}

// Backoff is the time until which no pods are created, after a number of failures in a row.
type Backoff struct {
	Failures int32
	Until    time.Time
}

// BackoffLimit compares the failures, and with restartPolicy OnFailure the restarts of containers, with
// spec.backoffLimit. The two are not added: the Job fails when there are more failures than the limit, or when the
// restarts reach it.
type BackoffLimit struct {
	Failures, Limit int32
	// OnFailure reports whether Restarts count.
	OnFailure bool
	Restarts  int32
}

// FailuresLeft returns the number of further failures that fail the Job: 1 if the next failure does.
func (b *BackoffLimit) FailuresLeft() int32 { return saturatingAdd(b.Limit-b.Failures, 1) }

// RestartsLeft returns the number of further restarts that fail the Job, if restarts count: 1 if the next restart does.
func (b *BackoffLimit) RestartsLeft() int32 { return max(b.Limit, 1) - b.Restarts }

// MaxFailedIndexes compares the failed indexes with spec.maxFailedIndexes.
type MaxFailedIndexes struct{ Failed, Limit int32 }

// CountKept is a status.succeeded that is kept although fewer indexes are complete, because the API server rejects a
// smaller count (STV-18).
type CountKept struct{ Succeeded, Completed int32 }

// TooManySucceeded is a NonIndexed Job that completed with more successes than
// spec.completions (JOB-14).
type TooManySucceeded struct{ Succeeded, Completions int32 }

// InterimCondition is the condition of a Job whose end is decided.
type InterimCondition struct {
	Condition       batchv1.JobConditionType
	Reason, Message string
}

// WaitFinish counts the pods that the terminal condition waits for. Ended pods still have the tracking finalizer;
// Uncounted pods are recorded but not yet counted.
type WaitFinish struct{ Active, Terminating, Ended, Uncounted int32 }
