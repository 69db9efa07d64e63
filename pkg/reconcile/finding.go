package reconcile

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// FindingKind names what a Finding is about.
type FindingKind string

const (
	// FindingCreate says: Count pods are created; Limit is how many are wanted.
	FindingCreate FindingKind = "Create"
	// FindingBackoff says: no pod is created before Until, after Count failures in a row.
	FindingBackoff FindingKind = "Backoff"
	// FindingHeld says: no pod is created because a creation failed in this sync.
	FindingHeld FindingKind = "CreationHeld"
	// FindingWaitTerminating says: Count terminating pods hold their place
	// (podReplacementPolicy Failed, KEP-3939).
	FindingWaitTerminating FindingKind = "WaitTerminating"
	// FindingExcess says: the pod is removed, because more run than are wanted.
	FindingExcess FindingKind = "ExcessPod"
	// FindingMisfit says: the pod is removed: its index is missing, out of range,
	// finished, or another pod has it.
	FindingMisfit FindingKind = "MisfitPod"
	// FindingUntracked says: an active pod without the tracking finalizer is deleted.
	FindingUntracked FindingKind = "UntrackedPod"
	// FindingRecorded says: the pod finished, and Reason (Succeeded or Failed) is recorded.
	FindingRecorded FindingKind = "Recorded"
	// FindingRecordLimit says: Count finished pods wait for the next status, because
	// one status records at most Limit.
	FindingRecordLimit FindingKind = "RecordLimit"
	// FindingCounted says: Count recorded pods moved into the counters.
	FindingCounted FindingKind = "Counted"
	// FindingNotCounted says: the finished pod is not counted; Message says why.
	FindingNotCounted FindingKind = "NotCounted"
	// FindingBackoffLimit says: Count failures (or restarts) stand against
	// backoffLimit Limit.
	FindingBackoffLimit FindingKind = "BackoffLimit"
	// FindingDeadline says: activeDeadlineSeconds ends, or ended, at Until.
	FindingDeadline FindingKind = "Deadline"
	// FindingFate says: the Job is bound to fail or to complete; Reason and Message
	// are those of the interim condition.
	FindingFate FindingKind = "Fate"
	// FindingWaitFinish says: the interim condition is there, and the terminal one
	// waits for Count pods, or uncounted pods; Message says which.
	FindingWaitFinish FindingKind = "WaitFinish"
	// FindingFinished says: the Job gets its terminal condition, or has it.
	FindingFinished FindingKind = "Finished"
	// FindingSuspended says: spec.suspend holds the Job; Count pods are still active.
	FindingSuspended FindingKind = "Suspended"
	// FindingResumed says: the Job was suspended and runs again.
	FindingResumed FindingKind = "Resumed"
	// FindingDeleting says: the Job itself is being deleted.
	FindingDeleting FindingKind = "Deleting"
	// FindingDamaged says: Count fragments of a stored index list cannot be read.
	FindingDamaged FindingKind = "DamagedIndexes"
	// FindingCountKept says: status.succeeded stays at Count though only Limit indexes are
	// complete, because the API server takes no smaller count (STV-18).
	FindingCountKept FindingKind = "CountKept"
	// FindingUnknownMode says: the completionMode in Message is none this version knows.
	FindingUnknownMode FindingKind = "UnknownCompletionMode"
)

// Finding is one reason behind a plan, with its evidence. Fields that have no
// meaning for the kind are zero, but for Index, which is then NoIndex.
type Finding struct {
	Kind    FindingKind
	Pod     string
	PodUID  types.UID
	Index   int32
	Reason  string
	Message string
	Count   int32
	Limit   int32
	// Until is when a wait ends.
	Until time.Time
}

func (s *state) find(f Finding) { s.plan.Findings = append(s.plan.Findings, f) }

// about is a finding on the whole Job.
func about(kind FindingKind) Finding { return Finding{Kind: kind, Index: NoIndex} }

// aboutPod is a finding on one pod.
func aboutPod(kind FindingKind, p *Pod) Finding {
	return Finding{Kind: kind, Pod: p.Name, PodUID: p.UID, Index: p.Index}
}
