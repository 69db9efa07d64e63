package reconcile

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/successpolicy"
)

// Findings are the reasons behind a plan, with their evidence. What was not found is zero. Pods
// are those of the Observation, and must not be changed.
type Findings struct {
	// RuleNames are the names of the rules of the podFailurePolicy. Violations are what is
	// wrong with those of the annotation, which then counts for nothing (PFN-25).
	RuleNames  rulename.Names
	Violations []rulename.Violation
	// UnknownMode is a completionMode that this version does not know. Nothing is decided.
	UnknownMode batchv1.CompletionMode
	// UnsupportedScheduling is what the Job asks for that takes a PodGroup. None is made, and
	// no pod is created (JOB-64).
	UnsupportedScheduling string
	// RestartsNotPerIndex reports whether containers are restarted in their pods, which
	// backoffLimitPerIndex does not count (D-16).
	RestartsNotPerIndex bool
	// DamagedIndexes counts the fragments of stored index lists that cannot be read.
	DamagedIndexes int32
	CountKept      *CountKept

	// Verdicts are those of the podFailurePolicy on the pods in phase Failed that no status
	// has recorded; of Review on all that are in phase Failed.
	Verdicts []FailedPod
	// Unreported are failed pods about which the podFailurePolicy is not asked yet.
	Unreported []Unreported
	// NotCounted are finished pods that no status will count.
	NotCounted []NotCounted
	// RecordedFailed are the failed pods that the next status records first. Unrecorded counts
	// the finished pods that do not fit into it.
	RecordedFailed []FailedPod
	Unrecorded     int32
	// IndexFailures are failed pods whose failure is the last of their index (KEP-3850).
	IndexFailures []FailedPod
	// CompletedIndexes and FailedIndexes are those of the next status.
	CompletedIndexes, FailedIndexes indexset.Set

	// BackoffLimit, Deadline, MaxFailedIndexes and SuccessRules are how far the Job is from
	// the ends that its spec provides for, as far as they were looked at: the first end that
	// applies counts. Deadline is when activeDeadlineSeconds are over.
	BackoffLimit     *BackoffLimit
	Deadline         time.Time
	MaxFailedIndexes *MaxFailedIndexes
	SuccessRules     []successpolicy.Progress
	// Outcome is how the Job ends, once that is decided.
	Outcome          *Outcome
	WaitFinish       *WaitFinish
	TooManySucceeded *TooManySucceeded

	// Excess are pods that are removed because more run than are wanted; Misfits because their
	// index is missing, out of range, finished, or another pod has it; Untracked because they
	// run without the tracking finalizer.
	Excess, Misfits, Untracked []*Pod
	// Backoff holds back all creation, WaitTerminating that of a replacement for each of so
	// many terminating pods (podReplacementPolicy Failed, KEP-3939).
	Backoff         *Backoff
	WaitTerminating int32
	// AwaitReplacement are the failed pods that are not counted before their index has its
	// next pod, in the order of the indexes (KEP-3850).
	AwaitReplacement []AwaitsReplacement
	// RetryHeld reports whether an index in back-off would get its next pod now: there is
	// room for one.
	RetryHeld bool
}

// FailedPod is a pod that failed, or that counts as failed.
type FailedPod struct {
	Pod *Pod
	// Match is the verdict of the podFailurePolicy; nil if it was not asked.
	Match *failurepolicy.Match
}

// Unreported is a failed pod of which it is waited until then to be told how it ended
// (ADR 0012).
type Unreported struct {
	Pod   *Pod
	Until time.Time
}

// NotCounted is a finished pod that no status will count.
type NotCounted struct {
	Pod *Pod
	Why NotCountedReason
}

// NotCountedReason is why a finished pod is not counted, for a sentence about the pod.
type NotCountedReason string

const (
	// OutOfRange is for pods that stand for no index of the Job (TRK-29).
	OutOfRange NotCountedReason = "its completion index is missing or out of range"
	// IndexFailedBefore is for a success that comes too late (BLI-12).
	IndexFailedBefore NotCountedReason = "its index has failed before"
	// DeletedAfterSuccess is for pods that the controller deleted (SUC-14).
	DeletedAfterSuccess NotCountedReason = "it was deleted because the Job has succeeded"
	// IgnoredByRule is for failures with action Ignore (PFP-05).
	IgnoredByRule NotCountedReason = "a rule of the podFailurePolicy ignores the failure"
)

// AwaitsReplacement is a failed pod that tells the next one of its index how often the index
// has failed. The index is in back-off, after so many failures in a row, until then.
type AwaitsReplacement struct {
	FailedPod
	Failures int32
	Until    time.Time
}

// Backoff is how long no pod is created, after so many failures in a row.
type Backoff struct {
	Failures int32
	Until    time.Time
}

// BackoffLimit holds the failures, with restartPolicy OnFailure and container restarts, against
// spec.backoffLimit.
type BackoffLimit struct{ Failures, Limit int32 }

// MaxFailedIndexes holds the failed indexes against spec.maxFailedIndexes.
type MaxFailedIndexes struct{ Failed, Limit int32 }

// CountKept is a status.succeeded that stays though fewer indexes are complete, as the API
// server takes no smaller count (STV-18).
type CountKept struct{ Succeeded, Completed int32 }

// TooManySucceeded is about a NonIndexed Job that is complete with more successes than
// spec.completions (JOB-14).
type TooManySucceeded struct{ Succeeded, Completions int32 }

// Outcome is the interim condition of a Job whose end is decided.
type Outcome struct {
	Condition       batchv1.JobConditionType
	Reason, Message string
}

// WaitFinish counts what the terminal condition waits for. Ended pods hold the tracking
// finalizer, and Uncounted are on record.
type WaitFinish struct{ Active, Terminating, Ended, Uncounted int32 }

func (s *state) notCounted(p *Pod, why NotCountedReason) {
	s.plan.Findings.NotCounted = append(s.plan.Findings.NotCounted, NotCounted{p, why})
}

// failedPod is a pod with the verdict of the podFailurePolicy on it, if it was asked.
func (s *state) failedPod(p *Pod) FailedPod { return FailedPod{p, s.matches[p.UID]} }
