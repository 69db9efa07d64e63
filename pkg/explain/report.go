package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Names of the project's own API.
const (
	// APIVersion and Kind identify a Report in JSON or YAML.
	APIVersion = "batchjob.dev/v1alpha1"
	Kind       = "JobExplanation"
	// KindList is the kind of a ReportList.
	KindList = "JobExplanationList"
)

// Report is the explanation of one Job at one moment. As JSON it is an object of kind JobExplanation; within v1alpha1, fields
// are added, and no field is removed or changes its meaning. Strings from the cluster are not sanitized: code that writes
// them to a terminal must do that.
type Report struct {
	metav1.TypeMeta `json:",inline"`
	Job             Job `json:"job"`
	// ObservedAt is the time of the observation, which durations and countdowns are relative to.
	ObservedAt metav1.Time `json:"observedAt"`
	Verdict    Verdict     `json:"verdict"`
	// Evidence is the chain of evidence behind the verdict on a Job that fails, failed, or is stalled: from the condition
	// down to the last lines of a log.
	Evidence   []Evidence  `json:"evidence,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
	Counts     Counts      `json:"counts"`
	// Problems block the Job, or need attention.
	Problems      []Problem      `json:"problems,omitempty"`
	FailurePolicy *FailurePolicy `json:"failurePolicy,omitempty"`
	SuccessPolicy *SuccessPolicy `json:"successPolicy,omitempty"`
	Indexes       *Indexes       `json:"indexes,omitempty"`
	// BackoffLimit is nil if the Job has none.
	BackoffLimit *BackoffLimit `json:"backoffLimit,omitempty"`
	// Causes are the failures by cause, the most frequent first.
	Causes []Cause `json:"causes,omitempty"`
	// FailuresWithoutPod counts the failures for which neither a pod nor an event shows a cause: the pods are gone.
	FailuresWithoutPod int32 `json:"failuresWithoutPod,omitempty"`
	// Disruptions is nil if no pod is known to have been taken from the Job.
	Disruptions *Disruptions `json:"disruptions,omitempty"`
	// Family is nil for a Job that is not a retry and was not retried.
	Family     *Family    `json:"family,omitempty"`
	Waits      []Wait     `json:"waits,omitempty"`
	Reconciler Reconciler `json:"reconciler"`
	Timeline   []Moment   `json:"timeline,omitempty"`
	// Next lists the next steps, in order.
	Next   []Step   `json:"next,omitempty"`
	Advice []Advice `json:"advice,omitempty"`
	// Pods are the pods of the Job, most informative first; PodsOmitted is the number left out.
	Pods        []PodInfo `json:"pods,omitempty"`
	PodsOmitted int32     `json:"podsOmitted,omitempty"`
	// Gaps list the data that could not be read, so that the report may be incomplete.
	Gaps []input.Gap `json:"gaps,omitempty"`
}

// IsTimeless reports whether the report stays the same as time passes: the Job has finished, and nothing waits.
func (r *Report) IsTimeless() bool {
	ended := r.Verdict.Outcome.IsFinished()
	return ended && len(r.Waits) == 0 && len(r.Problems) == 0
}

// IsDeleting reports whether the Job has been deleted and waits for something.
func (r *Report) IsDeleting() bool {
	return lists.First(r.Problems, func(p *Problem) bool { return p.Kind == ProblemDeleting }) != nil
}

// Named returns the problem that the verdict names, nil if it names none.
func (r *Report) Named() *Problem {
	if at := r.Verdict.Problem; at != nil && *at >= 0 && int(*at) < len(r.Problems) {
		return &r.Problems[*at]
	}
	return nil
}

// Pod returns the pod of that name, nil if the report does not have it.
func (r *Report) Pod(name string) *PodInfo {
	return lists.First(r.Pods, func(p *PodInfo) bool { return p.Name == name })
}

// ReportList is the explanation of several Jobs.
type ReportList struct {
	metav1.TypeMeta `json:",inline"`
	// CronJobs explain the CronJobs that own the Jobs.
	CronJobs []CronJobReport `json:"cronJobs,omitempty"`
	// JobSets explain the JobSets that own the Jobs.
	JobSets []JobSetReport `json:"jobSets,omitempty"`
	// Groups are the Jobs that need attention, by cause: failed and stalled Jobs first, then the largest groups, then the
	// newest.
	Groups []JobGroup `json:"groups,omitempty"`
	// Causes are the failures of all the Jobs together, by cause.
	Causes []Cause  `json:"causes,omitempty"`
	Items  []Report `json:"items"`
}

// GroupState is the state that the Jobs of a group share.
type GroupState string

// The states.
const (
	GroupFailed    GroupState = "Failed" // or certain to fail
	GroupStalled   GroupState = "Stalled"
	GroupSuspended GroupState = "Suspended"
	GroupRunning   GroupState = "Running" // with failures, or a problem
)

// JobGroup holds the Jobs that failed, or are stalled, for the same cause. Names of pods make no difference.
type JobGroup struct {
	State GroupState `json:"state"`
	// Text is the cause in one line, without a full stop.
	Text string `json:"text"`
	// Jobs are the names of the Jobs, newest first, with the namespace if there are several; Count is their number.
	Jobs  []string `json:"jobs"`
	Count int32    `json:"count"`
	// Reason is the reason of the Job's condition; Rule and RuleName identify the rule of the podFailurePolicy behind it.
	Reason   string `json:"reason,omitempty"`
	Rule     *int32 `json:"rule,omitempty"`
	RuleName string `json:"ruleName,omitempty"`
	// Failure is the most frequent failure of the pods; Problem is the problem that blocks the newest Job.
	Failure *cause.Failure `json:"failure,omitempty"`
	Problem *Problem       `json:"problem,omitempty"`
	// Advice is the advice on the newest Job.
	Advice []Advice `json:"advice,omitempty"`
}

// Job identifies a Job, and holds its times and the relevant fields of its spec.
type Job struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// Owner is the controlling owner of the Job, such as a CronJob.
	Owner *Owner `json:"owner,omitempty"`
	// Manual is set if a user created the Job from the template of its CronJob.
	Manual bool `json:"manual,omitempty"`
	// Tool is the tool that creates the Job; nil if none is known.
	Tool *Tool `json:"tool,omitempty"`
	// Created, Started and Finished are nil as long as they are not known. Finished is the
	// completionTime, or the transition of the condition Failed.
	Created  *metav1.Time `json:"created,omitempty"`
	Started  *metav1.Time `json:"started,omitempty"`
	Finished *metav1.Time `json:"finished,omitempty"`
	// DurationSeconds is the time from Started to Finished, or to ObservedAt.
	DurationSeconds *int64 `json:"durationSeconds,omitempty"`

	// Earlier is the last Job of the same name that has ended and no longer exists; nil if none is known.
	Earlier *EarlierJob `json:"earlier,omitempty"`

	// CompletionMode is NonIndexed or Indexed.
	CompletionMode       string `json:"completionMode"`
	Completions          *int32 `json:"completions,omitempty"`
	Parallelism          *int32 `json:"parallelism,omitempty"`
	BackoffLimit         *int32 `json:"backoffLimit,omitempty"`
	BackoffLimitPerIndex *int32 `json:"backoffLimitPerIndex,omitempty"`
	MaxFailedIndexes     *int32 `json:"maxFailedIndexes,omitempty"`
	// ActiveDeadlineSeconds and TTLSecondsAfterFinished come from the spec.
	ActiveDeadlineSeconds   *int64 `json:"activeDeadlineSeconds,omitempty"`
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// PodReplacementPolicy is the policy in force: TerminatingOrFailed or Failed.
	PodReplacementPolicy string `json:"podReplacementPolicy"`
	RestartPolicy        string `json:"restartPolicy,omitempty"`
	Suspend              bool   `json:"suspend,omitempty"`
	// ManagedBy is "" for the built-in controller.
	ManagedBy string `json:"managedBy,omitempty"`
}

// EarlierJob is a Job of the same name that no longer exists.
type EarlierJob struct {
	Ended  metav1.Time `json:"ended"`
	Failed bool        `json:"failed,omitempty"`
}

// Owner names an object that owns another.
type Owner struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	// Uncontrolled is set if the owner is a CronJob that does not control the Job: a user created the Job from its template.
	Uncontrolled bool `json:"uncontrolled,omitempty"`
	// Source is where its users change its Jobs, "" for the owner itself, and Settings are the fields there.
	Source   string   `json:"-"`
	Settings Settings `json:"-"`
}

// Condition is a condition of the Job.
type Condition struct {
	Type    string       `json:"type"`
	Status  string       `json:"status"`
	Reason  string       `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
}

// Counts holds the counters of the status, and the numbers of pods that still exist.
type Counts struct {
	// Active, Ready and Terminating come from the status, which lags behind the pods: ActivePods, ReadyPods and
	// TerminatingPods.
	Active      int32  `json:"active"`
	Ready       *int32 `json:"ready,omitempty"`
	Terminating *int32 `json:"terminating,omitempty"`
	Succeeded   int32  `json:"succeeded"`
	Failed      int32  `json:"failed"`
	// Completed is the number of completions so far, in the status or not yet: indexes of an Indexed Job, pods of a
	// NonIndexed Job.
	Completed int32 `json:"completed"`
	// StoppedFailures is the number of pods in Failed and UncountedFailed that the Job's controller stopped, as far as pods
	// and events show.
	StoppedFailures int32 `json:"stoppedFailures,omitempty"`
	// UncountedSucceeded and UncountedFailed count pods that are recorded, but not yet in Succeeded and Failed.
	UncountedSucceeded int32 `json:"uncountedSucceeded,omitempty"`
	UncountedFailed    int32 `json:"uncountedFailed,omitempty"`
	// Pods counts the pods that exist, FailedPods the pods in phase Failed, and Finalizers the pods with the tracking
	// finalizer; nil if pods could not be read.
	Pods       *int32 `json:"pods,omitempty"`
	FailedPods *int32 `json:"failedPods,omitempty"`
	Finalizers *int32 `json:"finalizers,omitempty"`
	// StoppedPods is the number of FailedPods that the Job's controller stopped.
	StoppedPods int32 `json:"stoppedPods,omitempty"`
	// ActivePods counts pods that have not ended and are not being deleted, ReadyPods the ready pods among them, and
	// TerminatingPods the pods that are being deleted; nil if pods could not be read.
	ActivePods      *int32 `json:"activePods,omitempty"`
	ReadyPods       *int32 `json:"readyPods,omitempty"`
	TerminatingPods *int32 `json:"terminatingPods,omitempty"`
	// IgnoredFailures counts failed pods that a rule of the podFailurePolicy ignores.
	IgnoredFailures int32 `json:"ignoredFailures,omitempty"`
	// AwaitReplacement counts failed pods that the status counts only once the next pod of their index exists (KEP-3850).
	AwaitReplacement int32 `json:"awaitReplacement,omitempty"`
}

// PodInfo describes one pod.
type PodInfo struct {
	Name    string `json:"name"`
	Index   *int32 `json:"index,omitempty"`
	Attempt int32  `json:"attempt,omitempty"`
	Phase   string `json:"phase"`
	// State is more specific than the phase: Terminating, ImagePullBackOff, Unschedulable, …
	State   string       `json:"state"`
	Ready   bool         `json:"ready,omitempty"`
	Node    string       `json:"node,omitempty"`
	Created *metav1.Time `json:"created,omitempty"`
	// Started is the start of the first container; nil if none has started, or if restarts have overwritten the time.
	Started *metav1.Time `json:"started,omitempty"`
	// Ended is the end of a finished pod.
	Ended    *metav1.Time `json:"ended,omitempty"`
	Restarts int32        `json:"restarts,omitempty"`
	// Cause describes the failure of the pod in words, and Failure as a value.
	Cause   string         `json:"cause,omitempty"`
	Failure *cause.Failure `json:"failure,omitempty"`
	// Stopped is the reason why the Job's controller deleted the pod, if the pod failed because of the deletion.
	Stopped StopReason `json:"stopped,omitempty"`
	Rule    *int32     `json:"rule,omitempty"`
	// Action is the action of the rule; "" if no rule matched.
	Action string `json:"action,omitempty"`
	// Counted is the state of the pod in the Job's accounting: Counted, Recorded, NotCounted, or AwaitsReplacement; "" for a
	// pod that has not ended.
	Counted string `json:"counted,omitempty"`
	// GraceEnds is the end of the grace period of a terminating pod.
	GraceEnds *metav1.Time `json:"graceEnds,omitempty"`
}

// Values of PodInfo.Counted: the state of an ended pod in the Job's accounting.
const (
	Counted           = "Counted"
	Recorded          = "Recorded"
	NotCounted        = "NotCounted"
	AwaitsReplacement = "AwaitsReplacement"
)

// Values of fields of a Report.
const (
	// BuiltInManagedBy is the managedBy value of the built-in controller; no value means the same (KEP-4368).
	BuiltInManagedBy = "kubernetes.io/job-controller"
	// Kueue is Problem.Controller of a Job that Kueue holds suspended.
	Kueue = kueue.Group
	// InvalidImageName is Problem.Reason of a container whose image cannot be parsed.
	InvalidImageName = "InvalidImageName"
)

// DefaultMaxPods is the number of pods that a Report lists by default.
const DefaultMaxPods = 50

// Options narrow a Report; the zero value keeps all of it.
type Options struct {
	// Pod and Indexes restrict evidence, causes, indexes and pods to one pod, or to some indexes; empty values do not. The
	// parts about the Job as a whole stay.
	Pod     string
	Indexes indexset.Set
	// MaxPods limits the number of listed pods: 0 means DefaultMaxPods, a negative value no limit.
	MaxPods int
}

// IsNarrow reports whether the report covers a part of the Job only.
func (o Options) IsNarrow() bool { return o.Pod != "" || !o.Indexes.IsEmpty() }

// HasPod reports whether the report covers the pod.
func (o Options) HasPod(p *input.Pod) bool {
	return (o.Pod == "" || o.Pod == p.Name) && o.HasIndex(p.Index)
}

// HasIndex reports whether the report covers pods of the index.
func (o Options) HasIndex(index int32) bool { return o.Indexes.IsEmpty() || o.Indexes.Contains(index) }

// HasEvent reports whether the report covers the event. Events do not name indexes.
func (o Options) HasEvent(e *input.Event) bool {
	return o.Indexes.IsEmpty() && (o.Pod == "" || o.Pod == e.Pod)
}
