package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
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
	// Causes are the failures by cause, the most frequent first.
	Causes []Cause `json:"causes,omitempty"`
	// FailuresWithoutPod is how many failures are counted that neither a pod nor an event
	// gives a cause for: the pods are gone.
	FailuresWithoutPod int32      `json:"failuresWithoutPod,omitempty"`
	Waits              []Wait     `json:"waits,omitempty"`
	Reconciler         Reconciler `json:"reconciler"`
	Timeline           []Moment   `json:"timeline,omitempty"`
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

// ReportList is what is said about several Jobs.
type ReportList struct {
	metav1.TypeMeta `json:",inline"`
	// Causes are the failures of all the Jobs together, by cause.
	Causes []Cause  `json:"causes,omitempty"`
	Items  []Report `json:"items"`
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

// Fate is how far the end of a Job is decided.
type Fate string

// The fates.
const (
	// FateOpen says: nothing is decided.
	FateOpen Fate = "Open"
	// FateFailing says: the Job will fail, and waits for its pods to end (FailureTarget).
	FateFailing Fate = "Failing"
	// FateSucceeding says: the Job will be complete, and waits for its pods to end
	// (SuccessCriteriaMet).
	FateSucceeding Fate = "Succeeding"
	FateFailed     Fate = "Failed"
	FateComplete   Fate = "Complete"
)

// Verdict is the answer in one sentence, and in fields.
type Verdict struct {
	// Status is kubectl's word: Running, Suspended, FailureTarget, SuccessCriteriaMet,
	// Failed, Complete or Terminating.
	Status string `json:"status"`
	Fate   Fate   `json:"fate"`
	// Stalled reports whether the Job is not finished, and a problem blocks it.
	Stalled bool `json:"stalled,omitempty"`
	// Reason and Message are those of the condition that decided the fate.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Rule and RuleName are the rule of the podFailurePolicy behind the reason; nil if
	// there is none, or if it is not known.
	Rule     *int32 `json:"rule,omitempty"`
	RuleName string `json:"ruleName,omitempty"`
	// WaitsFor says what the terminal condition waits for, while Failing or Succeeding.
	WaitsFor string `json:"waitsFor,omitempty"`
	// Why is what decided the fate, in a few words without a full stop; "" while Open.
	Why string `json:"why,omitempty"`
	// Sentence ends with a full stop. Clauses are its parts: the first is the answer, and
	// the others add to it.
	Sentence string   `json:"sentence"`
	Clauses  []string `json:"clauses,omitempty"`
	// Problem is the index of the one of Report.Problems that the sentence names.
	Problem *int32 `json:"problem,omitempty"`
	// ReasonFirst is set if Why begins with the Reason.
	ReasonFirst bool `json:"-"`
}

// EvidenceKind says what a link of the chain is.
type EvidenceKind string

// The links, in the order in which they follow each other.
const (
	EvidenceCondition EvidenceKind = "Condition"
	EvidenceLimit     EvidenceKind = "Limit" // a limit of the spec, and what stands against it
	EvidenceRule      EvidenceKind = "Rule"
	EvidencePod       EvidenceKind = "Pod"
	EvidenceContainer EvidenceKind = "Container"
	EvidenceLogs      EvidenceKind = "Logs"
	EvidenceEvent     EvidenceKind = "Event"
	// EvidenceNote is something that is missing from the chain, and why.
	EvidenceNote EvidenceKind = "Note"
)

// Evidence is one link of the chain. Each link explains the one before it.
type Evidence struct {
	Kind EvidenceKind `json:"kind"`
	// Text is one line, without a full stop.
	Text string `json:"text"`
	// Lines are quoted text: the last lines of a log, a termination message.
	Lines     []string     `json:"lines,omitempty"`
	Time      *metav1.Time `json:"time,omitempty"`
	Condition string       `json:"condition,omitempty"`
	Rule      *int32       `json:"rule,omitempty"`
	RuleName  string       `json:"ruleName,omitempty"`
	Pod       string       `json:"pod,omitempty"`
	Index     *int32       `json:"index,omitempty"`
	Attempt   int32        `json:"attempt,omitempty"`
	Container string       `json:"container,omitempty"`
	ExitCode  *int32       `json:"exitCode,omitempty"`
	// Signal is that of an exit code above 128, such as SIGKILL.
	Signal string `json:"signal,omitempty"`
	Reason string `json:"reason,omitempty"`
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
	Active      int32  `json:"active"`
	Ready       *int32 `json:"ready,omitempty"`
	Terminating *int32 `json:"terminating,omitempty"`
	Succeeded   int32  `json:"succeeded"`
	Failed      int32  `json:"failed"`
	// UncountedSucceeded and UncountedFailed are recorded, and not yet in Succeeded and Failed.
	UncountedSucceeded int32 `json:"uncountedSucceeded,omitempty"`
	UncountedFailed    int32 `json:"uncountedFailed,omitempty"`
	// Pods are the pods that exist, FailedPods those of them in phase Failed, and
	// Finalizers those that hold the tracking finalizer; nil if pods could not be read.
	Pods       *int32 `json:"pods,omitempty"`
	FailedPods *int32 `json:"failedPods,omitempty"`
	Finalizers *int32 `json:"finalizers,omitempty"`
	// IgnoredFailures are failed pods that a rule of the podFailurePolicy ignores.
	IgnoredFailures int32 `json:"ignoredFailures,omitempty"`
	// AwaitReplacement are failed pods that are counted only when the next pod of their
	// index exists (KEP-3850).
	AwaitReplacement int32 `json:"awaitReplacement,omitempty"`
}

// ProblemKind names what blocks a Job, or what is wrong with it.
type ProblemKind string

// The problems.
const (
	ProblemSuspended         ProblemKind = "Suspended"         // spec.suspend holds it
	ProblemNotReconciled     ProblemKind = "NotReconciled"     // no controller has worked on it
	ProblemControllerGone    ProblemKind = "ControllerGone"    // the controller that did has stopped
	ProblemCreationRefused   ProblemKind = "CreationRefused"   // quota, admission, RBAC: FailedCreate
	ProblemNoParallelism     ProblemKind = "NoParallelism"     // spec.parallelism is 0
	ProblemNoPodGroup        ProblemKind = "NoPodGroup"        // spec.scheduling asks for one
	ProblemDeleting          ProblemKind = "Deleting"          // the Job is being deleted
	ProblemUnschedulable     ProblemKind = "Unschedulable"     // no node can take the pod
	ProblemSchedulingGated   ProblemKind = "SchedulingGated"   // a gate holds the pod
	ProblemImagePull         ProblemKind = "ImagePull"         // the image cannot be pulled
	ProblemContainerConfig   ProblemKind = "ContainerConfig"   // the container cannot be made
	ProblemCrashLoop         ProblemKind = "CrashLoop"         // restartPolicy OnFailure
	ProblemPodPending        ProblemKind = "PodPending"        // not started for another reason
	ProblemContainerFailed   ProblemKind = "ContainerFailed"   // another container of the pod is still running
	ProblemTerminatingHolds  ProblemKind = "TerminatingHolds"  // podReplacementPolicy Failed
	ProblemTerminatingStuck  ProblemKind = "TerminatingStuck"  // beyond its grace period
	ProblemNodeGone          ProblemKind = "NodeGone"          // the pod's node does not answer
	ProblemFinalizerStuck    ProblemKind = "FinalizerStuck"    // the tracking finalizer is not removed
	ProblemForeignFinalizer  ProblemKind = "ForeignFinalizer"  // one of another controller holds the pod or the Job
	ProblemInvalidRuleNames  ProblemKind = "InvalidRuleNames"  // KEP-4443
	ProblemSuccessImpossible ProblemKind = "SuccessImpossible" // no rule can be met anymore
	ProblemUnknownMode       ProblemKind = "UnknownMode"       // completionMode
	ProblemInconsistent      ProblemKind = "Inconsistent"      // the status contradicts itself
)

// Problem is one of them, for all pods that have it.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	// Blocks is set if the Job, or one of its pods, cannot continue before it is solved.
	Blocks bool `json:"blocks,omitempty"`
	// Text is one sentence, without a full stop.
	Text string `json:"text"`
	// Details are lines quoted from the cluster, or one per violation.
	Details []string     `json:"details,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
	// Count is how many pods have it; Pods are examples.
	Count int32    `json:"count,omitempty"`
	Pods  []string `json:"pods,omitempty"`

	// Container of the pods has it, and Image is that of its template; Running are the
	// containers that keep the pod from ending (ContainerFailed).
	Container string   `json:"container,omitempty"`
	Image     string   `json:"image,omitempty"`
	Running   []string `json:"running,omitempty"`
	// Reason is why a container waits (ImagePullBackOff), that of the last warning about a
	// pod (FailedMount), or who refuses pods (Refusal…).
	Reason string `json:"reason,omitempty"`
	// Exit is how the container ended last, and Restarts how often it was restarted.
	Exit     *cause.Exit `json:"exit,omitempty"`
	Restarts int32       `json:"restarts,omitempty"`
	// Node is that of the pod; Scheduled is set if a scheduler has looked at it.
	Node      string `json:"node,omitempty"`
	Scheduled bool   `json:"scheduled,omitempty"`
	// Gates are scheduling gates, and Finalizers those that hold the pods or the Job.
	Gates      []string `json:"gates,omitempty"`
	Finalizers []string `json:"finalizers,omitempty"`
	// Holds is what waits for terminating pods.
	Holds Holds `json:"holds,omitempty"`
	// Controller should run the Job: spec.managedBy, "" for the built-in one.
	Controller string `json:"controller,omitempty"`
	// Queue (of Kueue), Owner, or the field manager Manager holds the Job suspended.
	Queue   string `json:"queue,omitempty"`
	Owner   *Owner `json:"owner,omitempty"`
	Manager string `json:"manager,omitempty"`
	// Asked is a value of the spec that is not supported.
	Asked string `json:"asked,omitempty"`
}

// Who refuses to create pods, in Problem.Reason.
const (
	RefusalQuota          = "Quota"
	RefusalQuotaNeeds     = "QuotaNeedsResources"
	RefusalPodSecurity    = "PodSecurity"
	RefusalLimitRange     = "LimitRange"
	RefusalServiceAccount = "ServiceAccount"
	RefusalPolicy         = "AdmissionPolicy"
	RefusalWebhook        = "AdmissionWebhook"
	RefusalWebhookDown    = "AdmissionWebhookDown"
	RefusalForbidden      = "Forbidden"
	RefusalInvalid        = "Invalid"
	RefusalOther          = "Other"
)

// Holds is what waits for terminating pods.
type Holds string

// What waits for them.
const (
	HoldsEnd         Holds = "End"         // of the Job
	HoldsReplacement Holds = "Replacement" // podReplacementPolicy Failed
	HoldsNothing     Holds = "Nothing"
)

// WaitKind says what a clock is about.
type WaitKind string

// The clocks.
const (
	WaitBackoff      WaitKind = "Backoff"      // of the whole Job
	WaitIndexBackoff WaitKind = "IndexBackoff" // of indexes: the first that ends
	WaitDeadline     WaitKind = "Deadline"     // activeDeadlineSeconds
	WaitTTL          WaitKind = "TTL"          // ttlSecondsAfterFinished: the Job is deleted
	WaitGrace        WaitKind = "GracePeriod"  // of terminating pods: the last that ends
)

// Wait is a clock that runs.
type Wait struct {
	Kind WaitKind `json:"kind"`
	// Until is when it ends.
	Until metav1.Time `json:"until"`
	// Text is what then happens: "a new pod is created, after 3 failures in a row".
	Text string `json:"text"`
	// Failures are the failures in a row behind a back-off; Indexes those in back-off.
	Failures int32  `json:"failures,omitempty"`
	Indexes  string `json:"indexes,omitempty"`
	// Count is how many indexes are in back-off, or how many pods terminate.
	Count int32 `json:"count,omitempty"`
	// NoRoom is set if an index has to wait for another pod to end as well.
	NoRoom bool `json:"noRoom,omitempty"`
	// Seconds is activeDeadlineSeconds or ttlSecondsAfterFinished.
	Seconds int64 `json:"seconds,omitempty"`
}

// Aliveness is whether a controller is running.
type Aliveness string

// Whether it is running.
const (
	Alive            Aliveness = "Alive"
	NotAlive         Aliveness = "NotAlive"
	AlivenessUnknown Aliveness = "Unknown"
)

// Sign is what Aliveness follows from.
type Sign string

// The signs.
const (
	SignNeverWorked  Sign = "NeverWorked"  // nothing has worked on the Job
	SignLeaseExpired Sign = "LeaseExpired" // at LeaseRenewed, and its duration
	SignLeaseHeld    Sign = "LeaseHeld"    // by LeaseHolder
	SignOverdue      Sign = "Overdue"      // Overdue ended pods are not recorded, since OverdueSince
	SignLastWrite    Sign = "LastWrite"    // of the status
	SignNone         Sign = "None"
)

// Reconciler is who runs the Job.
type Reconciler struct {
	// ManagedBy is that of the Job; "" for the built-in controller. Ours is set for the
	// default name of this project's controller.
	ManagedBy string    `json:"managedBy,omitempty"`
	Ours      bool      `json:"ours,omitempty"`
	Alive     Aliveness `json:"alive"`
	// Sign is the reason for Alive, and Text the same in one line.
	Sign Sign   `json:"sign"`
	Text string `json:"text"`
	// Manager last wrote the status, at LastWrite.
	Manager   string       `json:"manager,omitempty"`
	LastWrite *metav1.Time `json:"lastWrite,omitempty"`
	// LeaseHolder holds the Lease of the controller since LeaseRenewed.
	LeaseHolder  string       `json:"leaseHolder,omitempty"`
	LeaseRenewed *metav1.Time `json:"leaseRenewed,omitempty"`
	// Lease is namespace/name of the Lease.
	Lease string `json:"lease,omitempty"`
	// Overdue is how many ended pods should have been recorded, since OverdueSince.
	Overdue      int32        `json:"overdue,omitempty"`
	OverdueSince *metav1.Time `json:"overdueSince,omitempty"`
}

// MomentKind says what happened.
type MomentKind string

// What happens.
const (
	MomentCreated           MomentKind = "JobCreated"
	MomentStarted           MomentKind = "JobStarted"
	MomentDeletionRequested MomentKind = "DeletionRequested"
	MomentCondition         MomentKind = "Condition" // Condition changed, to Status and Reason
	MomentPodsCreated       MomentKind = "PodsCreated"
	MomentPodsSucceeded     MomentKind = "PodsSucceeded"
	MomentPodsFailed        MomentKind = "PodsFailed" // for the same Failure
	MomentEvent             MomentKind = "Event"      // Reason and Message
	MomentOmitted           MomentKind = "Omitted"    // Count moments are left out
)

// Moment is something that happened.
type Moment struct {
	Kind MomentKind  `json:"kind"`
	Time metav1.Time `json:"time"`
	// Until is when the last of several such things happened. Count is how often an event
	// was reported.
	Until *metav1.Time `json:"until,omitempty"`
	Count int32        `json:"count,omitempty"`
	// What is Job, Pod, Condition or Event.
	What string `json:"what"`
	// Warning is set for bad news.
	Warning bool   `json:"warning,omitempty"`
	Text    string `json:"text"`
	// PodCount is how many pods it happened to; Pod is the name of a single one.
	PodCount int32  `json:"podCount,omitempty"`
	Pod      string `json:"pod,omitempty"`
	// Failure is how the pods failed.
	Failure *cause.Failure `json:"failure,omitempty"`
	// Condition, Status and Reason are those of a condition; Reason and Message of an event.
	Condition string `json:"condition,omitempty"`
	Status    string `json:"status,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
}

// StepKind says what happens next.
type StepKind string

// What happens next.
const (
	StepTTL              StepKind = "DeletedAfterFinished" // a Wait
	StepGone             StepKind = "Gone"                 // the Job is being deleted
	StepBlocked          StepKind = "Blocked"              // nothing: a Problem holds up the whole Job
	StepTerminated       StepKind = "Terminated"           // the grace periods of all pods are over
	StepEnd              StepKind = "End"                  // the terminal Condition
	StepBackoff          StepKind = "Backoff"              // a Wait
	StepIndexBackoff     StepKind = "IndexBackoff"         // a Wait
	StepReplace          StepKind = "Replace"              // Count terminating pods, once they have ended
	StepSuccessRule      StepKind = "SuccessRule"          // Rule needs Count more successes
	StepRetryCreation    StepKind = "RetryCreation"        // of Count pods that the API server refuses
	StepUnknownBackoff   StepKind = "UnknownBackoff"       // Count pods are created, at an unknown time
	StepCreate           StepKind = "Create"               // Count pods
	StepNextIndexes      StepKind = "NextIndexes"          // Count of them, as others end
	StepBackoffLimit     StepKind = "BackoffLimit"         // Count more failures are more than Limit
	StepFailedIndexes    StepKind = "FailedIndexes"        // the Job fails when its indexes have ended
	StepMaxFailedIndexes StepKind = "MaxFailedIndexes"     // Count more failed indexes are more than Limit
	StepDeadline         StepKind = "Deadline"             // a Wait
)

// Step is something that happens next.
type Step struct {
	Kind StepKind `json:"kind"`
	// At is when, nil for now or for when something else has happened.
	At   *metav1.Time `json:"at,omitempty"`
	Text string       `json:"text"`
	// Wait is the clock that leads to it, nil if there is none. It is one of Report.Waits.
	Wait *Wait `json:"-"`
	// Count and Limit are of pods, indexes, failures, or successes, as the Kind says.
	Count int32 `json:"count,omitempty"`
	Limit int32 `json:"limit,omitempty"`
	// Rule is the index of a rule of the successPolicy, and Progress the Text of its SuccessRule.
	Rule     *int32 `json:"rule,omitempty"`
	Progress string `json:"progress,omitempty"`
	// Condition is the terminal condition that follows.
	Condition string `json:"condition,omitempty"`
}

// IsWait reports whether the step is the end of one of Report.Waits, and nothing else.
func (s *Step) IsWait() bool {
	switch s.Kind {
	case StepTTL, StepBackoff, StepIndexBackoff, StepDeadline:
		return true
	}
	return false
}

// Advice is something that can be done.
type Advice struct {
	Text string `json:"text"`
	// Command is one that can be typed as it is; "" if there is none.
	Command string `json:"command,omitempty"`
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
	Rule    *int32         `json:"rule,omitempty"`
	// Action is that of the rule; "" if no rule matched.
	Action string `json:"action,omitempty"`
	// Counted is how the Job's accounting treats it: Counted, Recorded, NotCounted, or
	// AwaitsReplacement; "" for a pod that has not ended.
	Counted string `json:"counted,omitempty"`
	// GraceEnds is when a terminating pod should have ended.
	GraceEnds *metav1.Time `json:"graceEnds,omitempty"`
}

// Gap is something that could not be read.
type Gap struct {
	// What is pods, events, pods/log, logs or nodes; or, in the interactive view, "watch"
	// and what may be read but not watched.
	What string `json:"what"`
	// Text is one line: what is missing, and why.
	Text string `json:"text"`
	// Command checks the permission, "" if a missing one is not the reason.
	Command string `json:"command,omitempty"`
}

// WithReason is Why behind the reason of the condition, which it names only if nothing else
// is known.
func (v *Verdict) WithReason() string {
	if v.ReasonFirst {
		return v.Why
	}
	return v.Reason + ": " + v.Why
}

// Names that fields of a Report have.
const (
	// BuiltInManagedBy means the same as no name at all (KEP-4368).
	BuiltInManagedBy = "kubernetes.io/job-controller"
	// Kueue is Problem.Controller of a Job that Kueue holds suspended.
	Kueue = "kueue.x-k8s.io"
	// InvalidImageName is Problem.Reason of a container whose image cannot be parsed.
	InvalidImageName = "InvalidImageName"
)

// How the accounting treats an ended pod, in PodInfo.Counted.
const (
	Counted           = "Counted"
	Recorded          = "Recorded"
	NotCounted        = "NotCounted"
	AwaitsReplacement = "AwaitsReplacement"
)

// DefaultMaxPods is how many pods a Report lists unless Options say otherwise.
const DefaultMaxPods = 50

// Options narrow a Report. The zero value does not.
type Options struct {
	// Pod and Index restrict evidence, causes, indexes and pods to those of one pod, or of
	// one index. What is said of the Job as a whole stays.
	Pod   string
	Index *int32
	// MaxPods is how many pods are listed: 0 for DefaultMaxPods, negative for all.
	MaxPods int
}
