package reconcile

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
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
	// FindingUnreported says: the podFailurePolicy waits until Until for how the failed pod
	// ended.
	FindingUnreported FindingKind = "Unreported"
	// FindingScheduling says: no pod is created because the Job asks for Reason, which takes a
	// PodGroup, and none is made (JOB-64).
	FindingScheduling FindingKind = "SchedulingNotSupported"
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
	// FindingAdopt says: nobody controls the pod, and the Job's selector selects it: it
	// becomes the Job's.
	FindingAdopt FindingKind = "AdoptPod"
	// FindingDisown says: the pod's labels no longer match the selector: it is let go.
	FindingDisown FindingKind = "DisownPod"
	// FindingRule says: the podFailurePolicy was asked about the failed pod; Match has
	// the rule, its evidence, and the rules that were passed over.
	FindingRule FindingKind = "FailurePolicy"
	// FindingInvalidRuleNames says: Count things are wrong with the annotation of rule
	// names, which therefore counts for nothing (PFN-25); Message lists them.
	FindingInvalidRuleNames FindingKind = "InvalidRuleNames"
	// FindingDisabled says: the spec asks for something whose feature gate, Reason, is off.
	FindingDisabled FindingKind = "FeatureDisabled"
	// FindingRestartsPerIndex says: backoffLimitPerIndex does not see container restarts (D-16).
	FindingRestartsPerIndex FindingKind = "RestartsNotPerIndex"
	// FindingIndexFailed says: the failure of the pod fails its index: Count failures are
	// more than Limit, or Match has a rule that says so.
	FindingIndexFailed FindingKind = "IndexFailed"
	// FindingMaxFailedIndexes says: Count indexes have failed, and Limit may.
	FindingMaxFailedIndexes FindingKind = "MaxFailedIndexes"
	// FindingDelayed says: the failed pod is not counted before its index has a new pod,
	// which takes over Count failures of Limit (KEP-3850).
	FindingDelayed FindingKind = "AwaitsReplacement"
	// FindingIndexBackoff says: the index of the failed pod gets no new pod before Until,
	// after Count failures (ignored ones included); Limit is backoffLimitPerIndex.
	FindingIndexBackoff FindingKind = "IndexBackoff"
	// FindingSuccessRule says: Count indexes of the Limit that rule Rule of the
	// successPolicy asks for have succeeded; Message says if the rule can never match.
	FindingSuccessRule FindingKind = "SuccessRule"
	// FindingCount says: the status field that Explains names is Count (a number, or the
	// size of a set), and Message and Limit say of what.
	FindingCount FindingKind = "Count"
	// FindingTime says: the status field that Explains names is Until.
	FindingTime FindingKind = "Time"
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
	// FindingFinished says: the Job gets its terminal condition, or has it; Reason and
	// Message are those of the condition.
	FindingFinished FindingKind = "Finished"
	// FindingTooManySucceeded says: the NonIndexed Job gets Complete, or has it, and Count
	// pods succeeded, more than the Limit that spec.completions is.
	FindingTooManySucceeded FindingKind = "TooManySucceeded"
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

// ExplainsEvent begins Finding.Explains of a finding that is the cause of an event; the
// event's reason follows.
const ExplainsEvent = "event/"

// Reasons of FindingRecorded.
const (
	ReasonSucceeded = "Succeeded"
	ReasonFailed    = "Failed"
)

// Finding is one reason behind a plan, with its evidence. Fields that have no
// meaning for the kind are zero, but for Index and Rule, which are then NoIndex and
// failurepolicy.NoRule.
type Finding struct {
	Kind FindingKind
	// Explains is what of the Job the finding accounts for: a condition type, the JSON
	// name of a status field, or an event (ExplainsEvent); "" for other findings.
	Explains string
	Pod      string
	PodUID   types.UID
	// Observed is the pod itself, with the evidence of its failure; it must not be changed.
	Observed *Pod
	Index    int32
	// Rule is an index of successPolicy.rules.
	Rule int32
	// Match is the verdict of the podFailurePolicy on the pod.
	Match   *failurepolicy.Match
	Reason  string
	Message string
	Count   int32
	Limit   int32
	// Until is when a wait ends.
	Until time.Time
}

func (s *state) find(f Finding) { s.plan.Findings = append(s.plan.Findings, f) }

// about is a finding on the whole Job.
func about(kind FindingKind) Finding {
	return Finding{Kind: kind, Index: NoIndex, Rule: failurepolicy.NoRule}
}

// aboutPod is a finding on one pod.
func aboutPod(kind FindingKind, p *Pod) Finding {
	f := about(kind)
	f.Pod, f.PodUID, f.Index, f.Observed = p.Name, p.UID, p.Index, p
	return f
}

// match is the verdict of the podFailurePolicy on a pod, or nil if it was not asked.
func (s *state) match(p *Pod) *failurepolicy.Match { return s.matches[p.UID] }
