package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// CauseSource is the source from which a cause is known.
type CauseSource string

// The sources, the most reliable first.
const (
	SourcePods   CauseSource = "Pods"
	SourceEvents CauseSource = "Events" // the pods are gone
	// SourceCondition means that it is the message of the Job's condition.
	SourceCondition CauseSource = "Condition"
)

// StopReason is the reason why the Job's own controller deletes running pods.
type StopReason string

// The reasons.
const (
	StoppedAtDeadline StopReason = "Deadline"  // activeDeadlineSeconds was over
	StoppedAtEnd      StopReason = "End"       // the Job was ending for another reason
	StoppedSuspended  StopReason = "Suspended" // spec.suspend
	StoppedExcess     StopReason = "Excess"    // more pods ran than wanted
)

// MaxExamples is the maximum number of pods that a report names for a cause or a problem.
const MaxExamples = 3

// Cause is one way in which pods failed.
type Cause struct {
	// Failure is the failure of the pods; nil if only an event or a condition describes it.
	Failure *cause.Failure `json:"failure,omitempty"`
	// Text is one line: "Container main exited with code 137 (OOMKilled)".
	Text string `json:"text"`
	// Meaning explains the exit code, the reason or the Error, if its meaning is known.
	Meaning string `json:"meaning,omitempty"`
	// Error is the error in the messages or logs of the containers, if its meaning is known and the latest pods report no
	// other error.
	Error  *meaning.KnownError `json:"error,omitempty"`
	Source CauseSource         `json:"source"`
	Count  int32               `json:"count"`
	Ended  `json:",inline"`
	Ruling `json:",inline"`
	Lost   `json:",inline"`
	Stop   `json:",inline"`
	// Pods are examples, latest first; Jobs is set in a ReportList.
	Pods []string `json:"pods,omitempty"`
	Jobs []string `json:"jobs,omitempty"`
	// Command prints the log of the first of Pods, "" if it has none.
	Command string       `json:"command,omitempty"`
	First   *metav1.Time `json:"first,omitempty"`
	Last    *metav1.Time `json:"last,omitempty"`
}

// Ended is how the pods ended.
type Ended struct {
	Container string `json:"container,omitempty"`
	ExitCode  *int32 `json:"exitCode,omitempty"`
	Signal    string `json:"signal,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// Condition is the pod condition behind the failure, such as DisruptionTarget.
	Condition string `json:"condition,omitempty"`
	// Also are the other containers that failed in all of the pods.
	Also []AlsoFailed `json:"also,omitempty"`
	// After are the containers that had exited with code 0 when this one, which serves them, was stopped: only its exit code made the
	// pod fail.
	After []string `json:"after,omitempty"`
	// Done are the containers that had exited with code 0 when this one failed by itself.
	Done []string `json:"done,omitempty"`
	// MemoryLimit is the memory limit of the container in the latest pod, if the container was OOMKilled; its Value is empty if it had none.
	MemoryLimit *input.MemoryLimit `json:"memoryLimit,omitempty"`
	// Ending is the reason for the end of the pods from outside their containers, nil if none is known.
	Ending *meaning.Ending `json:"ending,omitempty"`
	// Message is the termination message of one of the pods, or the message of the component that ended it.
	Message string `json:"message,omitempty"`
	// LastLine is the last line with content of the log of one of the pods, if it has no message and its log was read.
	LastLine string `json:"lastLine,omitempty"`
	// LineSign is what shows that LastLine is about an error.
	LineSign meaning.LineSign `json:"lineSign,omitempty"`
	// Place is what the program worked on, as far as its error leaves that out, such as a bucket or a migration.
	Place string `json:"place,omitempty"`
	// Read is the number of the pods with a message, or with a log that was read.
	Read int32 `json:"read,omitempty"`
	// Silent reports whether the latest of the pods has no message, and its log was read and is empty or ends without an error.
	Silent bool `json:"silent,omitempty"`
	// Retry is what the latest of the pods said if it failed because of what an earlier one had left, such as “already exists”. Error,
	// Message and LastLine are then those of the first.
	Retry string `json:"retry,omitempty"`
}

// Ruling is what a rule of the podFailurePolicy decided about the pods.
type Ruling struct {
	Rule     *int32 `json:"rule,omitempty"`
	RuleName string `json:"ruleName,omitempty"`
	// Action is the action of the rule; "" if no rule matched and the failure counts.
	Action string `json:"action,omitempty"`
	// Hidden is the failure that the rule did not decide on: the rule names no container, and matched another container instead, a
	// sidecar or a container that was stopped.
	Hidden *Hidden `json:"hidden,omitempty"`
}

// Lost is what the failures cost an Indexed Job.
type Lost struct {
	// Indexes are the indexes with this cause, as a list of intervals.
	Indexes string `json:"indexes,omitempty"`
	// IndexList lists the Indexes one by one, see ListIndexes.
	IndexList []int32 `json:"indexList,omitempty"`
	// FailedIndexes are the failed indexes whose last failure had this cause; each failed index has at most one such cause.
	FailedIndexes    string `json:"failedIndexes,omitempty"`
	FailedIndexCount int32  `json:"failedIndexCount,omitempty"`
}

// Stop is why the Job's own controller ended the pods; zero if it did not.
type Stop struct {
	// Consequence reports whether these pods were stopped because the Job was ending already.
	Consequence bool `json:"consequence,omitempty"`
	// Stopped is the reason why the controller deleted the pods, "" if nothing shows that it did.
	Stopped StopReason `json:"stopped,omitempty"`
	// NeverStarted is set for pods that the controller deleted before any of their containers started.
	NeverStarted bool `json:"neverStarted,omitempty"`
}

// IsStopped reports whether the Job's controller stopped the pods, so that they failed for no cause of their own.
func (c *Cause) IsStopped() bool { return c.Consequence || c.Stopped != "" }

// Hidden is a failure that a rule of the podFailurePolicy hides. It is comparable.
type Hidden struct {
	cause.Exit `json:",inline"`
	// Sidecar is set if the rule matched a sidecar instead.
	Sidecar bool `json:"sidecar,omitempty"`
}

// AlsoFailed is another container that failed. MemoryLimit is its memory limit if it ran out of memory.
type AlsoFailed struct {
	cause.Exit  `json:",inline"`
	MemoryLimit input.MemoryLimit `json:"memoryLimit,omitzero"`
}

// Disruptions are the pods that were taken from the Job: evicted, preempted, or lost with their node. They include pods that a
// rule of the podFailurePolicy ignores, which no counter of the status has, and pods that only events still show.
type Disruptions struct {
	Pods int32 `json:"pods"`
	// LostSeconds is the time that TimedPods of the Pods had run; of the others, it is unknown.
	LostSeconds int64 `json:"lostSeconds"`
	TimedPods   int32 `json:"timedPods"`
	// Index is the index that lost the most pods, and IndexPods is their number; nil if no index lost more than one.
	Index     *int32 `json:"index,omitempty"`
	IndexPods int32  `json:"indexPods,omitempty"`
	// By has the disruptions by actor and reason, the most frequent first.
	By []Disruption `json:"by"`
}

// Disruption counts the pods that one actor took for one reason. Its kind is "" for pods that an unknown actor deleted or
// evicted: the Eviction API leaves no event.
type Disruption struct {
	meaning.Ending `json:",inline"`
	// Why is the reason of Karpenter, such as Underutilized.
	Why  string `json:"why,omitempty"`
	Pods int32  `json:"pods"`
	// LostSeconds and TimedPods are as in Disruptions.
	LostSeconds int64 `json:"lostSeconds"`
	TimedPods   int32 `json:"timedPods"`
	// Indexes are the indexes of the pods, as a list of intervals, and IndexList lists them one by one, see ListIndexes.
	Indexes   string  `json:"indexes,omitempty"`
	IndexList []int32 `json:"indexList,omitempty"`
	// For are the pods for which the scheduler preempted, by UID or by namespace and name, at most MaxExamples.
	For []string `json:"for,omitempty"`
	// Nodes are nodes of the pods, at most MaxExamples.
	Nodes []string `json:"nodes,omitempty"`
	// Rulings are what the podFailurePolicy decided about the pods, as far as it is known.
	Rulings []RuledPods  `json:"rulings,omitempty"`
	First   *metav1.Time `json:"first,omitempty"`
	Last    *metav1.Time `json:"last,omitempty"`
}

// RuledPods is the number of pods with the same Ruling.
type RuledPods struct {
	Ruling `json:",inline"`
	Pods   int32 `json:"pods"`
}
