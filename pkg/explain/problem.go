package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// ProblemKind is the kind of a Problem.
type ProblemKind string

// The kinds of problems.
const (
	ProblemSuspended         ProblemKind = "Suspended"         // spec.suspend is true
	ProblemNotReconciled     ProblemKind = "NotReconciled"     // no controller has worked on it
	ProblemControllerGone    ProblemKind = "ControllerGone"    // the controller of the Job has stopped
	ProblemCreationRefused   ProblemKind = "CreationRefused"   // quota, admission, RBAC: FailedCreate
	ProblemNoParallelism     ProblemKind = "NoParallelism"     // spec.parallelism is 0
	ProblemNoPodGroup        ProblemKind = "NoPodGroup"        // spec.scheduling asks for one
	ProblemDeleting          ProblemKind = "Deleting"          // the Job is being deleted
	ProblemUnschedulable     ProblemKind = "Unschedulable"     // no node can take the pod
	ProblemSchedulingGated   ProblemKind = "SchedulingGated"   // a gate holds the pod
	ProblemImagePull         ProblemKind = "ImagePull"         // the image cannot be pulled
	ProblemContainerConfig   ProblemKind = "ContainerConfig"   // the container cannot be created
	ProblemCrashLoop         ProblemKind = "CrashLoop"         // a container fails and is restarted, again and again
	ProblemRestarted         ProblemKind = "Restarted"         // a container has failed, and runs again for longer than a crash loop lasts
	ProblemPodsLost          ProblemKind = "PodsLost"          // pods are gone, and are not counted
	ProblemContainerStopped  ProblemKind = "ContainerStopped"  // it has stopped, and its status is still Running
	ProblemInitRunning       ProblemKind = "InitRunning"       // an init container has been running for long
	ProblemSidecarNotStarted ProblemKind = "SidecarNotStarted" // the containers after it do not start
	ProblemPodPending        ProblemKind = "PodPending"        // a pod does not start, for another reason
	ProblemProcessOOMKilled  ProblemKind = "ProcessOOMKilled"  // in a pod that nevertheless succeeded, or that it holds up
	ProblemContainerRetried  ProblemKind = "ContainerRetried"  // an init container or sidecar was restarted, in a pod that succeeded
	ProblemErrorRepeated     ProblemKind = "ErrorRepeated"     // a container runs, and its log repeats an error, or ends with one
	ProblemWaits             ProblemKind = "Waits"             // a container runs, and its log says what it waits for
	ProblemSilent            ProblemKind = "Silent"            // a container runs, and its log has had no new line for long
	ProblemErrorHidden       ProblemKind = "ErrorHidden"       // the log of a container that succeeded has an error
	ProblemContainerFailed   ProblemKind = "ContainerFailed"   // another container of the pod is still running
	ProblemContainerEnded    ProblemKind = "ContainerEnded"    // exit code 0, and another container of the pod is still running
	ProblemSidecarStopping   ProblemKind = "SidecarStopping"   // the other containers of the pod have ended
	ProblemPodNotEnded       ProblemKind = "PodNotEnded"       // all its containers have ended, and its kubelet does not end it
	ProblemTerminatingHolds  ProblemKind = "TerminatingHolds"  // podReplacementPolicy Failed
	ProblemTerminatingStuck  ProblemKind = "TerminatingStuck"  // beyond its grace period
	ProblemNodeGone          ProblemKind = "NodeGone"          // the pod's node does not answer
	ProblemFinalizerStuck    ProblemKind = "FinalizerStuck"    // the tracking finalizer is not removed
	ProblemForeignFinalizer  ProblemKind = "ForeignFinalizer"  // another controller's finalizer holds the pod or the Job
	ProblemInvalidRuleNames  ProblemKind = "InvalidRuleNames"  // KEP-4443
	ProblemSuccessImpossible ProblemKind = "SuccessImpossible" // no rule can be met anymore
	ProblemUnknownMode       ProblemKind = "UnknownMode"       // completionMode
	ProblemBadRetryIndexes   ProblemKind = "BadRetryIndexes"   // the annotation of a retry
	ProblemInconsistent      ProblemKind = "Inconsistent"      // the status contradicts itself
)

// Problem is something that blocks a Job or needs attention, together for all pods that have it.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	// Blocks is set if the Job, or one of its pods, cannot continue before the problem is solved.
	Blocks bool `json:"blocks,omitempty"`
	// HoldsJob is set if the problem blocks the Job whatever its pods do.
	HoldsJob bool `json:"-"`
	// MayContinue is set if the Job may continue without any change: it waits for its turn or for room, a container runs that is
	// expected to take long, or the backoffLimit ends it.
	MayContinue bool `json:"-"`
	// Endless is set if no activeDeadlineSeconds ends the Job.
	Endless bool `json:"-"`
	// Text is one sentence, or several if one would have more than 160 characters, without a full stop at the end.
	Text string `json:"text"`
	// Details are lines quoted from the cluster, or one per violation.
	Details []string `json:"details,omitempty"`
	// Quoted is set if the Text includes the Details.
	Quoted bool `json:"-"`
	// Shortened is set if the Text has only a part of the message that it quotes.
	Shortened bool         `json:"-"`
	Since     *metav1.Time `json:"since,omitempty"`
	// Count is the number of pods with the problem; Pods are examples.
	Count int32    `json:"count,omitempty"`
	Pods  []string `json:"pods,omitempty"`

	// Container is the container with the problem, Image its image in the pod, and Node the node of the pod.
	Container string `json:"container,omitempty"`
	Image     string `json:"image,omitempty"`
	Node      string `json:"node,omitempty"`
	// Refusal is the reason why the API server refuses pods (CreationRefused).
	Refusal *meaning.Refusal `json:"refusal,omitempty"`
	// Controller is the controller that should run the Job: spec.managedBy, "" for the built-in controller.
	Controller string `json:"controller,omitempty"`
	// Reconciler has the evidence that the Controller has stopped (ControllerGone).
	Reconciler *Reconciler `json:"-"`
	// Asked is a value in the spec that is not supported, or the end of a command that hides its exit code (ErrorHidden; empty if the program ended with 0).
	Asked string `json:"asked,omitempty"`

	// The families of fields. Those that the Kind has no use for are zero.

	Scheduling Scheduling `json:"scheduling,omitzero"`
	Start      Start      `json:"start,omitzero"`
	Role       Role       `json:"role,omitzero"`
	Run        Run        `json:"run,omitzero"`
	Stopping   Stopping   `json:"stopping,omitzero"`
	Deletion   Deletion   `json:"deletion,omitzero"`
	Suspension Suspension `json:"suspension,omitzero"`
}

// Scheduling is about pods without a node.
type Scheduling struct {
	// Scheduled is set if a scheduler has looked at the pod.
	Scheduled bool `json:"scheduled,omitempty"`
	// Unfit lists the scheduler's reasons why no node can take the pods; Autoscaler is an autoscaler's statement about them.
	Unfit      []meaning.Unfit     `json:"unfit,omitempty"`
	Autoscaler *meaning.Autoscaler `json:"autoscaler,omitempty"`
	// Gates are scheduling gates.
	Gates []string `json:"gates,omitempty"`
}

// Start is about a pod or a container that does not start.
type Start struct {
	// Reason is the waiting reason of a container (ImagePullBackOff), or the reason of the last warning about a pod
	// (FailedMount).
	Reason string `json:"reason,omitempty"`
	// Error is the error that the container, its runtime or the kubelet reports, if its meaning is known.
	Error *meaning.KnownError `json:"error,omitempty"`
	// Trouble is the meaning of the message of the kubelet; nil if it is unknown.
	Trouble *meaning.Trouble `json:"trouble,omitempty"`
	// IsSilent is set if no event shows that the kubelet has begun to start the pod.
	IsSilent bool `json:"silent,omitempty"`
	// IsLate is set if the image of the pod is being pulled for unusually long, since Since.
	IsLate bool `json:"late,omitempty"`
	// Claims are the persistent volume claims of the pods, if one of them may keep the pods from starting.
	Claims []meaning.Claim `json:"claims,omitempty"`
	// Hook is the hook of a deployment tool that the Job is, if it needs an object that the tool may create later, or has
	// deleted.
	Hook *Tool `json:"-"`
}

// Role is the part that a container has in its pod.
type Role struct {
	// Sidecar reports whether the container is a native sidecar or an init container.
	Sidecar bool `json:"sidecar,omitempty"`
	// Init is set for an init container, or a native sidecar, that does not start.
	Init bool `json:"init,omitempty"`
	// LostPolicy is set if the container is a sidecar in the Job's template, and the pod lacks its restartPolicy Always
	// (InitRunning).
	LostPolicy bool `json:"lostPolicy,omitempty"`
	// Place is the 1-based position of the container among the PlaceOf init containers of the pod; Later are the containers that
	// start after the init containers. Probed is set if the container has a startup probe.
	Place   int32    `json:"place,omitempty"`
	PlaceOf int32    `json:"placeOf,omitempty"`
	Later   []string `json:"later,omitempty"`
	Probed  bool     `json:"probed,omitempty"`
	// Servers are what the command of an init container asks for (InitRunning, CrashLoop).
	Servers []string `json:"servers,omitempty"`
}

// Run is the last run of a container, and what restarts it.
type Run struct {
	// Exit is the exit of the container, and RanSeconds how long it had run.
	Exit       *cause.Exit `json:"exit,omitempty"`
	RanSeconds *int64      `json:"ranSeconds,omitempty"`
	// LastLine is the last line of the termination message or of the log of a container that is restarted, "" if it is unknown.
	LastLine string `json:"lastLine,omitempty"`
	// LineSign is what shows that LastLine is about an error; of a hidden error, what follows it: SignNoError for a success, SignUnknown for more commands.
	LineSign meaning.LineSign `json:"lineSign,omitempty"`
	// Place is what the program worked on, as far as its error leaves that out.
	Place string `json:"place,omitempty"`
	// Awaited is what the container waits for (Waits).
	Awaited *meaning.Awaited `json:"awaited,omitempty"`
	// MemoryLimit is the memory limit of the container, if that was OOMKilled; its Value is empty if it had none.
	MemoryLimit *input.MemoryLimit `json:"memoryLimit,omitempty"`
	// Ending is the probe for which the kubelet kills the container each time, nil if none is known to fail; ProbeMessage is
	// the output of the probe.
	Ending       *meaning.Ending `json:"ending,omitempty"`
	ProbeMessage string          `json:"probeMessage,omitempty"`
	// Also are other containers of the pod that failed (ContainerFailed), or fail and are restarted as well (CrashLoop); Restarts includes theirs.
	Also []AlsoFailed `json:"also,omitempty"`
	// Restarts is the number of restarts, in all of the pods of a CrashLoop or Restarted. RestartedBy is the field because of which the
	// container is restarted; Uncounted is set if restarts do not count towards the backoffLimit.
	Restarts    int32       `json:"restarts,omitempty"`
	RestartedBy RestartedBy `json:"restartedBy,omitempty"`
	Uncounted   bool        `json:"uncounted,omitempty"`
}

// Stopping is about containers that keep a pod from ending (ContainerFailed, ContainerEnded, SidecarStopping).
type Stopping struct {
	// Running are these containers.
	Running []string `json:"running,omitempty"`
	// Killed is the last exit of the first of them that restartPolicy OnFailure starts again after the work (ContainerEnded); nil for none.
	Killed *cause.Exit `json:"killed,omitempty"`
	// GraceSeconds is the time that sidecars have to stop.
	GraceSeconds *int64 `json:"graceSeconds,omitempty"`
}

// Deletion is about pods, or a Job, that are being deleted.
type Deletion struct {
	// Finalizers are the finalizers that hold them.
	Finalizers []string `json:"finalizers,omitempty"`
	// NoPods is set for a Job without pods, if only the finalizer that waits for its pods holds it.
	NoPods bool `json:"noPods,omitempty"`
	// Holds is the step that waits for terminating pods.
	Holds Holds `json:"holds,omitempty"`
	// Trouble is why a kubelet cannot end the pods, nil if no recent event says so.
	Trouble *meaning.Trouble `json:"trouble,omitempty"`
}

// Suspension is about a suspended Job: Queue (of Kueue), Owner, or the field manager Manager holds it.
type Suspension struct {
	Queue string `json:"queue,omitempty"`
	// Hold is the reason why Kueue does not admit the Job, nil if it could not be read.
	Hold    *kueue.Hold `json:"queueHold,omitempty"`
	Owner   *Owner      `json:"owner,omitempty"`
	Manager string      `json:"manager,omitempty"`
	// Stopped is the number of pods that the Job's controller deleted for this, as far as events name them.
	Stopped int32 `json:"stopped,omitempty"`
	// Raising is set if retry --in-place suspended the Job, and has not raised its memory yet.
	Raising bool `json:"raising,omitempty"`
	// OwnerRuns is set if Owner is not suspended, and Kueue suspended the Job without a Workload for it.
	OwnerRuns bool `json:"ownerRuns,omitempty"`
	// NoWorkload is set if the Job names a queue of Kueue, which has no Workload for it.
	NoWorkload bool `json:"noWorkload,omitempty"`
}

// OfTemplate reports whether a CronJob creates its Jobs suspended.
func (s *Suspension) OfTemplate() bool { return s.Owner != nil && s.Owner.Kind == "CronJob" }

// CrashLoopBackOff is the waiting reason of a container that is restarted later, because it has failed before.
const CrashLoopBackOff = "CrashLoopBackOff"

// Pulling is the reason of the kubelet's event when it begins to pull an image.
const Pulling = "Pulling"

// RestartedBy is the field because of which a failed container is restarted.
type RestartedBy string

// The fields.
const (
	RestartedByPod       RestartedBy = "Pod"       // restartPolicy of the pod: OnFailure
	RestartedBySidecar   RestartedBy = "Sidecar"   // restartPolicy of an init container: Always
	RestartedByContainer RestartedBy = "Container" // restartPolicy of another container
	RestartedByRules     RestartedBy = "Rules"     // restartPolicyRules of the container
)

// Holds is the step that waits for terminating pods.
type Holds string

// The steps that wait.
const (
	HoldsEnd         Holds = "End"         // the end of the Job
	HoldsReplacement Holds = "Replacement" // podReplacementPolicy Failed
	HoldsNothing     Holds = "Nothing"
)

// AddPod counts a pod, and keeps the first MaxExamples names.
func (p *Problem) AddPod(name string) {
	p.Count++
	if len(p.Pods) < MaxExamples {
		p.Pods = append(p.Pods, name)
	}
}

// TokenOf returns the ServiceAccount whose generated token the pods need and do not get; "" if they need no such Secret.
func (p *Problem) TokenOf() string {
	if t := p.Start.Trouble; t != nil && t.Kind == meaning.VolumeGone {
		return meaning.AccountOfToken(t.Volume)
	}
	if kind, name := p.MissingObject(); kind == "Secret" {
		return meaning.AccountOfToken(name)
	}
	return ""
}

// MissingObject returns the kind and the name of the object that the pods need and that does not exist; "" if there is none.
func (p *Problem) MissingObject() (kind, name string) {
	switch {
	case p.Refusal != nil && p.Refusal.Kind == meaning.RefusalServiceAccount:
		return "ServiceAccount", p.Refusal.By
	case p.Refusal != nil && p.Refusal.Kind == meaning.RefusalClass:
		return p.Refusal.Message, p.Refusal.By
	case p.Start.Trouble != nil && p.Start.Trouble.Kind == meaning.ObjectMissing:
		return p.Start.Trouble.Object, p.Start.Trouble.Name
	}
	if u := lists.First(p.Scheduling.Unfit, func(u *meaning.Unfit) bool { return u.Kind == meaning.UnfitClaimMissing }); u != nil {
		return "claim", u.Name
	}
	return "", ""
}
