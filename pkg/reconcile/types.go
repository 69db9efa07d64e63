package reconcile

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// NoIndex is the Pod.Index of a pod that has no completion index, or one that
// cannot be read.
const NoIndex int32 = -1

// Pod is what the decisions about a Job need to know of one of its pods, and
// nothing else, so that 10^5 of them fit in memory. Package observe makes it
// from a corev1.Pod.
type Pod struct {
	UID             types.UID
	Name            string
	ResourceVersion string
	Phase           corev1.PodPhase
	// Index is the completion index of the annotation
	// batch.kubernetes.io/job-completion-index, or NoIndex.
	Index int32
	// Deleting says that a deletionTimestamp is set.
	Deleting bool
	// Finalizer says that batch.kubernetes.io/job-tracking is on the pod.
	Finalizer bool
	Ready     bool
	Scheduled bool
	// Restarts is the sum of the restart counts of all init and app containers.
	Restarts  int32
	CreatedAt time.Time
	// ReadySince is when Ready last became true; zero if it is not.
	ReadySince time.Time
	// FinishedAt is the finish time by the rule of KEP-3850 (BLI-26); zero for
	// a pod that neither finished nor is being deleted.
	FinishedAt time.Time
	// Unselected says that the pod's labels no longer match the Job's selector.
	Unselected bool
	// Failures and Ignored are the counted and the ignored failures of the index
	// before this pod, as the annotations batch.kubernetes.io/job-index-failure-count
	// and …/job-index-ignored-failure-count tell (KEP-3850); 0 where they cannot be read.
	Failures, Ignored int32
	// Terminated are the containers that ended, app containers first, and Conditions the
	// conditions, of a pod that failed. Of one that has not ended these are the containers
	// that ended badly so far, and the conditions; nil for a pod that succeeded.
	Terminated []failurepolicy.Container
	Conditions []failurepolicy.Condition
	// Restarted is how a container ended before its last restart: one that failed, if any
	// of them did; nil if nothing is known of one. No decision depends on it.
	Restarted *failurepolicy.Container
	// Unreported says that the pod is in phase Failed, and that a container is still reported
	// as running, or as waiting to run again: how it ended is yet to be told.
	Unreported bool
	// FailReason is the reason that the kubelet gave for the failure of the whole pod,
	// such as Evicted; empty for every other pod.
	FailReason string
}

// IsTerminal says that no container runs in the pod any more, nor ever will.
func (p *Pod) IsTerminal() bool { return p.Phase == corev1.PodSucceeded || p.Phase == corev1.PodFailed }

// IsActive is the pod's part in status.active: neither finished nor being
// deleted (PRP-03).
func (p *Pod) IsActive() bool { return !p.IsTerminal() && !p.Deleting }

// IsTerminating is the pod's part in status.terminating: being deleted, and not
// yet finished (PRP-03, D-09).
func (p *Pod) IsTerminating() bool { return !p.IsTerminal() && p.Deleting }

// Observation is everything a decision rests on. Compute reads it only.
type Observation struct {
	Job *batchv1.Job
	// Pods are all pods that the Job controls, in any order.
	Pods []*Pod
	// PodsUnknown reports whether the pods could not be read. Such an observation is for
	// Review only, which plans nothing then.
	PodsUnknown bool
	// Strays are pods of the namespace that nobody controls, that are not being
	// deleted, and that the Job's selector selects; of a Job that is being deleted those
	// that it has lost, and that hold its finalizer.
	Strays []*Pod
	// RuleNames are the names of spec.podFailurePolicy.rules where the API server
	// serves them, by rule, "" for none; the Go type of a Job does not hold them
	// (KEP-4443, PFN-28). Names may also come from the Job's annotation.
	RuleNames []string
	Now       time.Time
	// Backoff is what earlier plans asked to remember.
	Backoff backoff.Record
	// UnreportedSince is since when the caller has seen pods to be Unreported. Those that are
	// missing here are not waited for.
	UnreportedSince map[types.UID]time.Time
	// Skip names pods on which an operation failed in this sync: none is
	// planned for them, so that the others go on.
	Skip map[types.UID]bool
	// HoldCreation says that a creation failed in this sync: none is planned.
	HoldCreation bool
}

// Config holds the limits that decisions obey. DefaultConfig has the values that
// the requirements name.
type Config struct {
	// MaxUncounted is how many pods one status may record as finished but not
	// yet counted (KEP-2307 bounds the lists to 20 kB).
	MaxUncounted int
	// MaxPodChanges is how many pods one plan creates, or scales down.
	MaxPodChanges int
	Backoff       backoff.Policy
	// ReportWait is how long a failed pod whose end is not told yet keeps the
	// podFailurePolicy waiting (ADR 0012).
	ReportWait time.Duration
	Features   Features
	// SchedulingDone says that somebody else sees to spec.scheduling: the plan is for a Job
	// of the built-in controller.
	SchedulingDone bool
	// MinRequeue is the shortest wait that a plan asks for.
	MinRequeue time.Duration
}

// DefaultConfig returns the values of the built-in controller: 500, 500, 10 s to
// 10 min, 1 s; and 30 s for the end of a failed pod to be told.
func DefaultConfig() Config {
	return Config{
		MaxUncounted:  500,
		MaxPodChanges: 500,
		Backoff:       backoff.Policy{Base: 10 * time.Second, Max: 10 * time.Minute},
		ReportWait:    30 * time.Second,
		Features:      AllFeatures(),
		MinRequeue:    time.Second,
	}
}

// Features are the parts of the API that can be switched off. The zero value is
// all off.
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

// AllFeatures has all of them on.
func AllFeatures() Features { return Features{true, true, true, true, true} }

// delaysTerminal reports whether a Job is finished only when its last pod has ended, and has
// SuccessCriteriaMet before Complete. API servers with both features off know neither
// (KEP-3939, KEP-4368).
func (f Features) delaysTerminal() bool { return f.PodReplacementPolicy || f.ManagedBy }

// Plan is one stage: operations that may run in any order and in parallel,
// because each is justified by what is stored already. See the package comment.
type Plan struct {
	// Status, if not nil, is to be stored if the Job is still the one observed.
	Status *batchv1.JobStatus
	// Urgent says that Status adds or changes a condition. Any other status may
	// wait for a while, to be merged with the next one.
	Urgent bool
	// Merge reports whether Status is best left out: the next stage sees what the creations
	// led to, and needs one write for both. Only if these take long, or are many and the Job
	// has no startTime, is a write due before.
	Merge bool
	// Create are the pods to create, lowest completion index first.
	Create []NewPod
	// CreateReason says what they are created for.
	CreateReason CreateReason
	// Delete are pods to be deleted, whether or not they hold the finalizer.
	Delete []PodRef
	// Release are pods to take the tracking finalizer from.
	Release []PodRef
	// Adopt are strays to be given the Job as controller and the tracking finalizer,
	// once a live read has shown that the Job is still there (JOB-35). Disown are pods
	// to lose both (JOB-36). Each is one write.
	Adopt, Disown []PodRef
	// RequeueAfter is when to look again though nothing changes; 0 for never.
	RequeueAfter time.Duration
	// Backoff is to be remembered once Status is stored.
	Backoff  backoff.Record
	Findings Findings
}

// IsEmpty says that there is nothing to write.
func (p *Plan) IsEmpty() bool { return p.Status == nil && !p.changesPods() }

func (p *Plan) changesPods() bool {
	return len(p.Create)+len(p.Delete)+len(p.Release)+len(p.Adopt)+len(p.Disown) > 0
}

// CreateReason is why pods are created; the values are those of a metric label (KEP-3939,
// D-10, D-11).
type CreateReason string

const (
	// CreateNew says: nothing has failed, or is terminating, before.
	CreateNew CreateReason = "new"
	// RecreateFailed says: there were failures, and only those are replaced.
	RecreateFailed CreateReason = "recreate_failed"
	// RecreateTerminatingOrFailed says: there were failures or deletions.
	RecreateTerminatingOrFailed CreateReason = "recreate_terminating_or_failed"
)

// PodRef names the pod of an operation.
type PodRef struct {
	Name string
	UID  types.UID
	// ResourceVersion, if not empty, must still be the pod's: the operation is
	// right only for the pod as it was observed.
	ResourceVersion string
	// OutOfRange reports whether the pod is let go because its index is not one of the Job.
	// That has to hold for a Job at least as new as the pod: read it again first, or a
	// success is lost that an older spec knew no index for.
	OutOfRange bool
	// Ignored says that the pod failed, and that a rule ignores the failure.
	Ignored bool
	// IgnoredFailure is when such a pod failed, if that was after the last success. No
	// status will tell of it: once the finalizer is gone, the caller adds it to the
	// back-off record (Record.Failed).
	IgnoredFailure time.Time
}

// NewPod is a pod to create from the Job's template.
type NewPod struct {
	// Index is the completion index, or NoIndex in a NonIndexed Job.
	Index int32
	// Attempt counts from 1: one more than the failures so far, of the index
	// as far as its pods are still there, or of the NonIndexed Job.
	Attempt int32
	// PerIndex says that the pod carries the failure counts of its index, which
	// Failures and Ignored then are (KEP-3850).
	PerIndex          bool
	Failures, Ignored int32
}
