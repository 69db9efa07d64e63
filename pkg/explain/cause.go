package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
)

// CauseSource says how a cause is known.
type CauseSource string

// The sources, the best witness first.
const (
	SourcePods   CauseSource = "Pods"
	SourceEvents CauseSource = "Events" // the pods are gone
	// SourceCondition is the message of the Job's condition.
	SourceCondition CauseSource = "Condition"
)

// StopReason is why the Job's own controller deletes pods that still run.
type StopReason string

// Why it does.
const (
	StoppedAtDeadline StopReason = "Deadline"  // activeDeadlineSeconds was over
	StoppedAtEnd      StopReason = "End"       // the Job was ending for another reason
	StoppedSuspended  StopReason = "Suspended" // spec.suspend
	StoppedExcess     StopReason = "Excess"    // more ran than are wanted
)

// MaxExamples is how many pods a report names that failed of one cause, or that have one problem.
const MaxExamples = 3

// Cause is one way in which pods failed.
type Cause struct {
	// Failure is how the pods failed; nil if only the words of others tell of it.
	Failure *cause.Failure `json:"failure,omitempty"`
	// Text is one line: "Container main exited with code 137 (OOMKilled)".
	Text string `json:"text"`
	// Meaning says what an exit code or a reason means, if that is known.
	Meaning   string      `json:"meaning,omitempty"`
	Source    CauseSource `json:"source"`
	Count     int32       `json:"count"`
	Container string      `json:"container,omitempty"`
	ExitCode  *int32      `json:"exitCode,omitempty"`
	Signal    string      `json:"signal,omitempty"`
	Reason    string      `json:"reason,omitempty"`
	// Condition is the pod condition behind the failure, such as DisruptionTarget.
	Condition string `json:"condition,omitempty"`
	Rule      *int32 `json:"rule,omitempty"`
	RuleName  string `json:"ruleName,omitempty"`
	// Action is that of the rule; "" if no rule matched: the failure counts.
	Action string `json:"action,omitempty"`
	// Indexes have failed so, as a list of intervals.
	Indexes string `json:"indexes,omitempty"`
	// Pods are examples, the latest first; Jobs are set in a ReportList.
	Pods []string `json:"pods,omitempty"`
	Jobs []string `json:"jobs,omitempty"`
	// Consequence reports whether these pods were stopped because the Job was ending already.
	Consequence bool `json:"consequence,omitempty"`
	// Stopped is why the Job's controller deleted the pods, "" if nothing shows that it did.
	Stopped StopReason `json:"stopped,omitempty"`
	// NeverStarted is set for pods that the Job's controller deleted before any of their containers started.
	NeverStarted bool `json:"neverStarted,omitempty"`
	// MemoryLimit is that of the container of the latest pod, if it was OOMKilled and had one.
	MemoryLimit *MemoryLimit `json:"memoryLimit,omitempty"`
	// Ending is what ended the pods from outside their containers, nil if nothing is known to.
	Ending *Ending `json:"ending,omitempty"`
	// Message is a termination message of one of them, or what the component says that ended one of them.
	Message string       `json:"message,omitempty"`
	First   *metav1.Time `json:"first,omitempty"`
	Last    *metav1.Time `json:"last,omitempty"`
}
