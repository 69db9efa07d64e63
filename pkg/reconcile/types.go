package reconcile

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// NoIndex is the Pod.Index of a pod whose completion index is missing or cannot be parsed.
const NoIndex int32 = -1

// Pod holds the parts of a corev1.Pod that decisions need, and nothing else, so that 10^5 pods fit in memory. Package
// observe creates it.
type Pod struct {
	UID             types.UID
	Name            string
	ResourceVersion string
	Phase           corev1.PodPhase
	// Index is the completion index of the annotation
	// batch.kubernetes.io/job-completion-index, or NoIndex.
	Index int32
	// Deleting reports whether deletionTimestamp is set.
	Deleting bool
	// Finalizer reports whether the pod has the finalizer batch.kubernetes.io/job-tracking.
	Finalizer bool
	Ready     bool
	Scheduled bool
	// Made reports whether a Job controller created the pod, so that it once had the finalizer.
	Made bool
	// Restarts is the sum of the restart counts of all init and app containers.
	Restarts  int32
	CreatedAt time.Time
	// ReadySince is when Ready last became true; zero if the pod is not ready.
	ReadySince time.Time
	// FinishedAt is the finish time by the rule of KEP-3850 (BLI-26); zero if the pod has neither finished nor is being
	// deleted. If EndUnknown, the pod has ended and its status does not show when: FinishedAt is the time of its creation.
	FinishedAt time.Time
	EndUnknown bool
	// Unselected reports whether the pod's labels no longer match the Job's selector.
	Unselected bool
	// Failures and Ignored are the counted and the ignored failures of the index before
	// this pod, from the annotations batch.kubernetes.io/job-index-failure-count and
	// …/job-index-ignored-failure-count (KEP-3850); 0 where they cannot be parsed.
	Failures, Ignored int32
	// Terminated are the terminated containers of a failed pod, app containers first; of a pod that has not ended, the
	// containers that have failed so far. Conditions are the pod's conditions. Both are nil for a pod that succeeded.
	Terminated []failurepolicy.Container
	Conditions []failurepolicy.Condition
	// Restarted is a container as it ended before its last restart, preferably one that failed; nil if no container is
	// known to have restarted. Only messages depend on it.
	Restarted *failurepolicy.Container
	// Unreported reports whether the pod is in phase Failed while a container is still reported as running, or as
	// waiting to run again: the status does not show yet how the pod ended.
	Unreported bool
	// Reasons are the reasons for the end of the pod as a whole; nil if there are none. No decision depends on them.
	Reasons *PodReasons
}

// PodReasons are the reasons for the end of a pod. Few pods have them, so other pods spend no memory on them.
type PodReasons struct {
	// Failed is status.reason of a pod that failed, such as Evicted; Disrupted is the reason of the condition
	// DisruptionTarget, such as EvictionByEvictionAPI. Either may be "".
	Failed, Disrupted string
}

// IsTerminal reports whether the pod has finished: no container runs, or ever will again.
func (p *Pod) IsTerminal() bool { return p.Phase == corev1.PodSucceeded || p.Phase == corev1.PodFailed }

// IsActive reports whether the pod counts in status.active: it has neither finished nor is being deleted (PRP-03).
func (p *Pod) IsActive() bool { return !p.IsTerminal() && !p.Deleting }

// IsTerminating reports whether the pod counts in status.terminating: it is being deleted, and has not finished
// (PRP-03, D-09).
func (p *Pod) IsTerminating() bool { return !p.IsTerminal() && p.Deleting }

// Observation is the input of a decision. Compute does not change it.
type Observation struct {
	Job *batchv1.Job
	// Pods are all pods that the Job controls, in any order.
	Pods []*Pod
	// PodsUnknown reports whether the pods could not be read. Only Review accepts such an
	// observation, and plans nothing.
	PodsUnknown bool
	// Strays are pods that the Job may adopt: they match its selector, have no controller and are
	// not being deleted.
	Strays []*Pod
	// Held are the pods in status.uncountedTerminatedPods that still have the finalizer, even if the Job does not
	// control them anymore.
	Held map[types.UID]bool
	// RuleNames are the names in spec.podFailurePolicy.rules, by rule, if the API server serves them; "" for unnamed
	// rules. The Go type of a Job lacks the field (KEP-4443, PFN-28). Names may also come from the Job's annotation.
	RuleNames []string
	Now       time.Time
	// Backoff is the record that the caller remembered from earlier plans.
	Backoff backoff.Record
	// FailedSince maps failed pods to the time at which the caller first saw that they had failed. An entry stays until the
	// pod has lost the finalizer, but at least for Config.FailureHold. Compute does not wait for pods without an entry.
	FailedSince map[types.UID]time.Time
	// Skip contains pods on which an operation failed in this sync: no more operations are planned for them, so that the
	// other pods make progress.
	Skip map[types.UID]bool
	// HoldCreation reports whether no pods are to be created: a creation failed in this sync, or the Job may
	// need none.
	HoldCreation bool
}

// Config holds the limits for decisions. DefaultConfig has the required values.
type Config struct {
	// MaxUncounted is the number of pods that one status may record as finished but not yet counted (KEP-2307 bounds the
	// lists to 20 kB).
	MaxUncounted int
	// MaxPodChanges is the number of pods that one plan creates, or scales down.
	MaxPodChanges int
	Backoff       backoff.Policy
	// ReportWait is how long the podFailurePolicy waits for a failed pod's status to show how it ended (ADR 0012).
	ReportWait time.Duration
	// FailureHold is how long the place of a failed pod stays empty after the caller saw the failure: failures that come
	// together are judged before new pods start (JOB-53).
	FailureHold time.Duration
	Features    Features
	// SchedulingDone reports whether spec.scheduling is handled elsewhere: the built-in controller reconciles the Job.
	SchedulingDone bool
	// MinRequeue is the shortest wait that a plan requests. (KEP-3850 has 1 s: back-offs would end late.)
	MinRequeue time.Duration
}

// DefaultConfig returns the values of the built-in controller, and a ReportWait of 30 s. Its FailureHold is the built-in
// controller's batch period.
func DefaultConfig() Config {
	return Config{
		MaxUncounted:  500,
		MaxPodChanges: 500,
		Backoff:       backoff.Policy{Base: 10 * time.Second, Max: 10 * time.Minute},
		ReportWait:    30 * time.Second,
		FailureHold:   time.Second,
		Features:      AllFeatures(),
		MinRequeue:    100 * time.Millisecond,
	}
}

// Features are the parts of the API that can be disabled. The zero value disables all.
type Features struct {
	// RuleNames: the reason of FailJob names the rule (KEP-4443).
	RuleNames bool
	// BackoffLimitPerIndex: spec.backoffLimitPerIndex and maxFailedIndexes (KEP-3850).
	BackoffLimitPerIndex bool
	// PodReplacementPolicy: spec.podReplacementPolicy and status.terminating (KEP-3939).
	PodReplacementPolicy bool
	// SuccessPolicy: spec.successPolicy (KEP-3998).
	SuccessPolicy bool
	// ManagedBy: spec.managedBy (KEP-4368). Here it only matters together with
	// PodReplacementPolicy: see delaysTerminal.
	ManagedBy bool
}

// AllFeatures returns Features with all features enabled.
func AllFeatures() Features { return Features{true, true, true, true, true} }

// delaysTerminal reports whether a Job finishes only when its last pod has ended, with SuccessCriteriaMet before
// Complete. API servers with both features disabled expect neither behavior (KEP-3939, KEP-4368).
func (f Features) delaysTerminal() bool { return f.PodReplacementPolicy || f.ManagedBy }

// Plan is one stage: operations that may run in any order and in parallel, because the stored state already justifies
// each of them. See the package comment.
type Plan struct {
	// Status, if not nil, is to be stored if the Job is still the one observed.
	Status *batchv1.JobStatus
	// Urgent reports whether Status adds or changes a condition, or no pod is left whose change another status could
	// report. Any other status may be delayed, to be merged with the next one.
	Urgent bool
	// Merge reports whether the caller should leave Status out, because the next stage sees the result of the creations
	// and needs one write for both. Write it first only if the creations take long, or are many and the Job has no
	// startTime.
	Merge bool
	// Create are the pods to create, lowest completion index first.
	Create []NewPod
	// CreateReason is the reason for which they are created.
	CreateReason CreateReason
	// Delete are pods to delete, whether or not they have the finalizer.
	Delete []PodRef
	// Release are pods to remove the tracking finalizer from.
	Release []PodRef
	// Adopt are strays to which the Job is to be added as controller, with the tracking finalizer, once a live read has
	// shown that the Job still exists (JOB-35). Disown are pods from which both are to be removed (JOB-36). Each is one
	// write.
	Adopt, Disown []PodRef
	// RequeueAfter is the wait after which to compute again even if nothing changes; 0 means never.
	RequeueAfter time.Duration
	// Backoff is to be remembered once Status is stored, BackoffSeen before pods are released: these pods may be gone
	// afterward, since another client may have recorded that they failed.
	Backoff, BackoffSeen backoff.Record

	Findings Findings
}

// IsEmpty reports whether there is nothing to write.
func (p *Plan) IsEmpty() bool { return p.Status == nil && !p.changesPods() }

func (p *Plan) changesPods() bool {
	return len(p.Create)+len(p.Delete)+len(p.Release)+len(p.Adopt)+len(p.Disown) > 0
}

// CreateReason is the reason for which pods are created, as the value of a metric label (KEP-3939, D-10, D-11).
type CreateReason string

const (
	// CreateNew means that nothing has failed or is terminating.
	CreateNew CreateReason = "new"
	// RecreateFailed means that there were failures, and only failed pods are replaced.
	RecreateFailed CreateReason = "recreate_failed"
	// RecreateTerminatingOrFailed means that there were failures or deletions.
	RecreateTerminatingOrFailed CreateReason = "recreate_terminating_or_failed"
)

// PodRef identifies the pod of an operation.
type PodRef struct {
	Name string
	UID  types.UID
	// ResourceVersion, if not empty, is a precondition: the operation is correct only
	// for the pod as it was observed.
	ResourceVersion string
	// OutOfRange reports whether the pod is released because its index is out of range. The caller must first read a Job
	// at least as new as the pod: after scaling up, an older spec does not have the index, and the success would be
	// lost.
	OutOfRange bool
	// Ignored reports whether the pod failed, and a rule ignores the failure.
	Ignored bool
	// IgnoredFailure is the time at which such a pod failed, if that was after the last success. No status will record
	// it: once the finalizer is gone, the caller adds it to the back-off record (Record.Failed).
	IgnoredFailure time.Time
}

// NewPod is a pod to create from the Job's template.
type NewPod struct {
	// Index is the completion index, or NoIndex in a NonIndexed Job.
	Index int32
	// Attempt is one more than the number of failures so far: of the index, as far as its pods still exist, or of the
	// NonIndexed Job.
	Attempt int32
	// PerIndex reports whether the pod carries the failure counts of its index,
	// Failures and Ignored (KEP-3850).
	PerIndex          bool
	Failures, Ignored int32
}
