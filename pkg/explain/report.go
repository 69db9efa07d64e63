package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// The names of our own API.
const (
	// APIVersion and Kind of a Report as JSON or YAML.
	APIVersion = "batchjob.dev/v1alpha1"
	Kind       = "JobExplanation"
	// KindList is the kind of a ReportList.
	KindList = "JobExplanationList"
)

// Report is all that can be said about one Job at one moment. As JSON it is an object of
// kind JobExplanation; fields are added to it, and no field changes its meaning or is removed
// within v1alpha1. Strings that came from the cluster are as the cluster has them: who
// writes them to a terminal makes them safe.
type Report struct {
	metav1.TypeMeta `json:",inline"`
	Job             Job `json:"job"`
	// ObservedAt is the time that everything else refers to.
	ObservedAt metav1.Time `json:"observedAt"`
	Verdict    Verdict     `json:"verdict"`
	// Evidence is the chain behind the verdict on a Job that fails or failed, from the
	// condition down to the last lines of a log; or behind why it is stalled.
	Evidence   []Evidence  `json:"evidence,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
	Counts     Counts      `json:"counts"`
	// Problems are what blocks the Job, or is wrong with it.
	Problems      []Problem      `json:"problems,omitempty"`
	FailurePolicy *FailurePolicy `json:"failurePolicy,omitempty"`
	SuccessPolicy *SuccessPolicy `json:"successPolicy,omitempty"`
	Indexes       *Indexes       `json:"indexes,omitempty"`
	// BackoffLimit is nil if the Job has none.
	BackoffLimit *BackoffLimit `json:"backoffLimit,omitempty"`
	// Causes are the failures by cause, the most frequent first.
	Causes []Cause `json:"causes,omitempty"`
	// FailuresWithoutPod is how many failures are counted that neither a pod nor an event
	// gives a cause for: the pods are gone.
	FailuresWithoutPod int32 `json:"failuresWithoutPod,omitempty"`
	// Family is nil for a Job that is not a retry and has none.
	Family     *Family    `json:"family,omitempty"`
	Waits      []Wait     `json:"waits,omitempty"`
	Reconciler Reconciler `json:"reconciler"`
	Timeline   []Moment   `json:"timeline,omitempty"`
	// Next is what happens next, in order.
	Next   []Step   `json:"next,omitempty"`
	Advice []Advice `json:"advice,omitempty"`
	// Pods are the pods of the Job, those that say most first; PodsOmitted more are left
	// out.
	Pods        []PodInfo `json:"pods,omitempty"`
	PodsOmitted int32     `json:"podsOmitted,omitempty"`
	// Gaps are what could not be read, so that the report may say less than it could.
	Gaps []Gap `json:"gaps,omitempty"`
}

// IsTimeless reports whether time changes nothing in the report: the Job has finished, and nothing
// waits.
func (r *Report) IsTimeless() bool {
	ended := r.Verdict.Fate == FateFailed || r.Verdict.Fate == FateComplete
	return ended && len(r.Waits) == 0 && len(r.Problems) == 0
}

// ReportList is what is said about several Jobs.
type ReportList struct {
	metav1.TypeMeta `json:",inline"`
	// CronJobs are the CronJobs whose Jobs these are.
	CronJobs []CronJobReport `json:"cronJobs,omitempty"`
	// Groups are the Jobs that need attention, by cause: failed and stalled ones first, then the
	// largest, then the newest.
	Groups []JobGroup `json:"groups,omitempty"`
	// Causes are the failures of all the Jobs together, by cause.
	Causes []Cause  `json:"causes,omitempty"`
	Items  []Report `json:"items"`
}

// GroupState is what the Jobs of a group have in common.
type GroupState string

// The states.
const (
	GroupFailed    GroupState = "Failed" // or certain to fail
	GroupStalled   GroupState = "Stalled"
	GroupSuspended GroupState = "Suspended"
	GroupRunning   GroupState = "Running" // with failures, or a problem
)

// JobGroup is the Jobs that failed, or are stalled, for the same cause, whatever their pods are called.
type JobGroup struct {
	State GroupState `json:"state"`
	// Text is the cause in one line, without a full stop.
	Text string `json:"text"`
	// Jobs are their names, the newest first, with the namespace if there are several; Count is their number.
	Jobs  []string `json:"jobs"`
	Count int32    `json:"count"`
	// Reason is that of the condition, and Rule and RuleName the rule of the podFailurePolicy behind it.
	Reason   string `json:"reason,omitempty"`
	Rule     *int32 `json:"rule,omitempty"`
	RuleName string `json:"ruleName,omitempty"`
	// Failure is how most pods failed, and Problem what blocks the newest of the Jobs.
	Failure *cause.Failure `json:"failure,omitempty"`
	Problem *Problem       `json:"problem,omitempty"`
	// Advice is that of the newest.
	Advice []Advice `json:"advice,omitempty"`
}

// Job is what the Job is and asks for.
type Job struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// Owner is the controller of the Job, such as a CronJob.
	Owner *Owner `json:"owner,omitempty"`
	// Created, Started and Finished are nil as long as they are not known. Finished is the
	// completionTime, or the transition of the condition Failed.
	Created  *metav1.Time `json:"created,omitempty"`
	Started  *metav1.Time `json:"started,omitempty"`
	Finished *metav1.Time `json:"finished,omitempty"`
	// DurationSeconds is from Started to Finished, or to ObservedAt.
	DurationSeconds *int64 `json:"durationSeconds,omitempty"`

	// CompletionMode is NonIndexed or Indexed.
	CompletionMode       string `json:"completionMode"`
	Completions          *int32 `json:"completions,omitempty"`
	Parallelism          *int32 `json:"parallelism,omitempty"`
	BackoffLimit         *int32 `json:"backoffLimit,omitempty"`
	BackoffLimitPerIndex *int32 `json:"backoffLimitPerIndex,omitempty"`
	MaxFailedIndexes     *int32 `json:"maxFailedIndexes,omitempty"`
	// ActiveDeadlineSeconds and TTLSecondsAfterFinished are those of the spec.
	ActiveDeadlineSeconds   *int64 `json:"activeDeadlineSeconds,omitempty"`
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// PodReplacementPolicy is TerminatingOrFailed or Failed: what is in force.
	PodReplacementPolicy string `json:"podReplacementPolicy"`
	RestartPolicy        string `json:"restartPolicy,omitempty"`
	Suspend              bool   `json:"suspend,omitempty"`
	// ManagedBy is "" for the built-in controller.
	ManagedBy string `json:"managedBy,omitempty"`
}

// Owner names an object that owns another.
type Owner struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// Condition is a condition of the Job.
type Condition struct {
	Type    string       `json:"type"`
	Status  string       `json:"status"`
	Reason  string       `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
}

// Counts are the numbers of the status, and of the pods that are still there.
type Counts struct {
	// Active, Ready and Terminating are what the status says, which lags behind the pods:
	// ActivePods, ReadyPods and TerminatingPods.
	Active      int32  `json:"active"`
	Ready       *int32 `json:"ready,omitempty"`
	Terminating *int32 `json:"terminating,omitempty"`
	Succeeded   int32  `json:"succeeded"`
	Failed      int32  `json:"failed"`
	// Completed are the completions so far, in the status or not yet: indexes of an Indexed Job,
	// pods of another one.
	Completed int32 `json:"completed"`
	// StoppedFailures is how many of Failed and UncountedFailed are pods that the Job's controller stopped, as far as pods
	// and events show it.
	StoppedFailures int32 `json:"stoppedFailures,omitempty"`
	// UncountedSucceeded and UncountedFailed are recorded, and not yet in Succeeded and Failed.
	UncountedSucceeded int32 `json:"uncountedSucceeded,omitempty"`
	UncountedFailed    int32 `json:"uncountedFailed,omitempty"`
	// Pods are the pods that exist, FailedPods those of them in phase Failed, and
	// Finalizers those that hold the tracking finalizer; nil if pods could not be read.
	Pods       *int32 `json:"pods,omitempty"`
	FailedPods *int32 `json:"failedPods,omitempty"`
	Finalizers *int32 `json:"finalizers,omitempty"`
	// StoppedPods is how many of FailedPods the Job's controller stopped.
	StoppedPods int32 `json:"stoppedPods,omitempty"`
	// ActivePods neither ended nor are being deleted, ReadyPods are those of them that are
	// ready, and TerminatingPods are being deleted; nil if pods could not be read.
	ActivePods      *int32 `json:"activePods,omitempty"`
	ReadyPods       *int32 `json:"readyPods,omitempty"`
	TerminatingPods *int32 `json:"terminatingPods,omitempty"`
	// IgnoredFailures are failed pods that a rule of the podFailurePolicy ignores.
	IgnoredFailures int32 `json:"ignoredFailures,omitempty"`
	// AwaitReplacement are failed pods that are counted only when the next pod of their
	// index exists (KEP-3850).
	AwaitReplacement int32 `json:"awaitReplacement,omitempty"`
}

// PodInfo is one pod.
type PodInfo struct {
	Name    string `json:"name"`
	Index   *int32 `json:"index,omitempty"`
	Attempt int32  `json:"attempt,omitempty"`
	Phase   string `json:"phase"`
	// State says more than the phase: Terminating, ImagePullBackOff, Unschedulable, …
	State   string       `json:"state"`
	Ready   bool         `json:"ready,omitempty"`
	Node    string       `json:"node,omitempty"`
	Created *metav1.Time `json:"created,omitempty"`
	// Started is when its first container started; nil if none has, or if restarts have made
	// that unknown.
	Started *metav1.Time `json:"started,omitempty"`
	// Ended is when it finished, for a finished pod.
	Ended    *metav1.Time `json:"ended,omitempty"`
	Restarts int32        `json:"restarts,omitempty"`
	// Cause is that of its failure, and Failure the same as a value.
	Cause   string         `json:"cause,omitempty"`
	Failure *cause.Failure `json:"failure,omitempty"`
	// Stopped is why the Job's controller deleted it, for a pod that failed by that.
	Stopped StopReason `json:"stopped,omitempty"`
	Rule    *int32     `json:"rule,omitempty"`
	// Action is that of the rule; "" if no rule matched.
	Action string `json:"action,omitempty"`
	// Counted is how the Job's accounting treats it: Counted, Recorded, NotCounted, or
	// AwaitsReplacement; "" for a pod that has not ended.
	Counted string `json:"counted,omitempty"`
	// GraceEnds is when a terminating pod should have ended.
	GraceEnds *metav1.Time `json:"graceEnds,omitempty"`
}

// How the accounting treats an ended pod, in PodInfo.Counted.
const (
	Counted           = "Counted"
	Recorded          = "Recorded"
	NotCounted        = "NotCounted"
	AwaitsReplacement = "AwaitsReplacement"
)

// Names that fields of a Report have.
const (
	// BuiltInManagedBy means the same as no name at all (KEP-4368).
	BuiltInManagedBy = "kubernetes.io/job-controller"
	// Kueue is Problem.Controller of a Job that Kueue holds suspended.
	Kueue = kueue.Group
	// InvalidImageName is Problem.Reason of a container whose image cannot be parsed.
	InvalidImageName = "InvalidImageName"
	// OOMKilled is the reason of a container in which the kernel killed a process for lack of memory.
	OOMKilled = "OOMKilled"
)

// DefaultMaxPods is how many pods a Report lists unless Options say otherwise.
const DefaultMaxPods = 50

// Options narrow a Report. The zero value does not.
type Options struct {
	// Pod and Indexes restrict evidence, causes, indexes and pods to those of one pod, or of
	// some indexes; no indexes do not. What is said of the Job as a whole stays.
	Pod     string
	Indexes indexset.Set
	// MaxPods is how many pods are listed: 0 for DefaultMaxPods, negative for all.
	MaxPods int
}

// IsNarrow reports whether the report is about a part of the Job.
func (o Options) IsNarrow() bool { return o.Pod != "" || !o.Indexes.IsEmpty() }

// HasPod reports whether the report is about the pod.
func (o Options) HasPod(p *Pod) bool {
	return (o.Pod == "" || o.Pod == p.Name) && o.HasIndex(p.Index)
}

// HasIndex reports whether the report is about pods of the index.
func (o Options) HasIndex(index int32) bool { return o.Indexes.IsEmpty() || o.Indexes.Contains(index) }

// HasEvent reports whether the report is about the event. Events do not name indexes.
func (o Options) HasEvent(e *Event) bool {
	return o.Indexes.IsEmpty() && (o.Pod == "" || o.Pod == e.Pod)
}
