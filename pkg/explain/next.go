package explain

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WaitKind is the kind of a Wait.
type WaitKind string

// The kinds of waits.
const (
	WaitBackoff      WaitKind = "Backoff"      // back-off of the whole Job
	WaitIndexBackoff WaitKind = "IndexBackoff" // back-off of indexes: the one that ends first
	WaitDeadline     WaitKind = "Deadline"     // activeDeadlineSeconds
	WaitTTL          WaitKind = "TTL"          // ttlSecondsAfterFinished: the Job is deleted
	WaitGrace        WaitKind = "GracePeriod"  // grace period of terminating pods: the one that ends last
)

// Wait is a running timer.
type Wait struct {
	Kind WaitKind `json:"kind"`
	// Until is the time at which the wait ends.
	Until metav1.Time `json:"until"`
	// Text describes what happens then: "a new pod is created, after 3 failures in a row".
	Text string `json:"text"`
	// Failures is the number of consecutive failures behind a back-off; Indexes are the indexes in back-off.
	Failures int32  `json:"failures,omitempty"`
	Indexes  string `json:"indexes,omitempty"`
	// Count is the number of indexes in back-off, or of terminating pods.
	Count int32 `json:"count,omitempty"`
	// NoRoom is set if an index also has to wait for another pod to end.
	NoRoom bool `json:"noRoom,omitempty"`
	// Seconds is activeDeadlineSeconds or ttlSecondsAfterFinished.
	Seconds int64 `json:"seconds,omitempty"`
}

// StepKind is the kind of a Step.
type StepKind string

// The kinds of steps.
const (
	StepTTL              StepKind = "DeletedAfterFinished" // a Wait
	StepGone             StepKind = "Gone"                 // the Job is being deleted
	StepBlocked          StepKind = "Blocked"              // nothing happens: a Problem blocks the whole Job
	StepRequeue          StepKind = "Requeue"              // Kueue tries again to admit the Job
	StepRoom             StepKind = "Room"                 // Kueue starts the Job when it has room for it
	StepTerminated       StepKind = "Terminated"           // the grace periods of all pods are over
	StepEnd              StepKind = "End"                  // the terminal Condition
	StepBackoff          StepKind = "Backoff"              // a Wait
	StepIndexBackoff     StepKind = "IndexBackoff"         // a Wait
	StepReplace          StepKind = "Replace"              // Count terminating pods are replaced once they have ended
	StepSuccessRule      StepKind = "SuccessRule"          // Rule needs Count more successes
	StepRetryCreation    StepKind = "RetryCreation"        // the creation of Count pods, which the API server refuses, is retried
	StepUnknownBackoff   StepKind = "UnknownBackoff"       // Count pods are created, at an unknown time
	StepCreate           StepKind = "Create"               // Count pods are created
	StepNextIndexes      StepKind = "NextIndexes"          // Count indexes start, as other indexes end
	StepQueueEnds        StepKind = "QueueEnds"            // a work queue is complete when its Count pods have ended
	StepBackoffLimit     StepKind = "BackoffLimit"         // Count more failures or restarts (Unit) fail the Job
	StepFailedIndexes    StepKind = "FailedIndexes"        // the Job fails when its indexes have ended
	StepMaxFailedIndexes StepKind = "MaxFailedIndexes"     // Count more failed indexes exceed Limit
	StepDeadline         StepKind = "Deadline"             // a Wait
)

// Step is a next step of a Job.
type Step struct {
	Kind StepKind `json:"kind"`
	// At is the time of the step, nil for now or for after another step.
	At   *metav1.Time `json:"at,omitempty"`
	Text string       `json:"text"`
	// Wait is the timer that leads to the step, nil if there is none. It is one of Report.Waits.
	Wait *Wait `json:"-"`
	// Count and Limit are numbers of pods, indexes, failures, or successes, depending on the Kind.
	Count int32 `json:"count,omitempty"`
	Limit int32 `json:"limit,omitempty"`
	// Unit is the unit of a BackoffLimit step: failures or restarts.
	Unit LimitUnit `json:"unit,omitempty"`
	// Rule is the index of a rule of the successPolicy; Progress is the Text of its SuccessRule.
	Rule     *int32 `json:"rule,omitempty"`
	Progress string `json:"progress,omitempty"`
	// Condition is the terminal condition that follows.
	Condition string `json:"condition,omitempty"`
}

// IsWait reports whether the step is the end of one of Report.Waits, and nothing else.
func (s *Step) IsWait() bool {
	switch s.Kind {
	case StepTTL, StepBackoff, StepIndexBackoff, StepDeadline, StepTerminated:
		return true
	}
	return false
}

// AdviceKind is the purpose of an Advice.
type AdviceKind string

// The kinds.
const (
	AdviceFix    AdviceKind = "Fix"    // solves the problem, or helps to find it
	AdviceLogs   AdviceKind = "Logs"   // prints logs of failed pods
	AdviceDebug  AdviceKind = "Debug"  // starts a copy of a failed pod with a shell
	AdviceRerun  AdviceKind = "Rerun"  // runs the missing indexes or completions
	AdvicePolicy AdviceKind = "Policy" // changes a policy for the next run of the Job
)

// InShell is the end of a command that starts a shell in a container.
const InShell = " -- sh"

// Advice is a recommended action.
type Advice struct {
	Kind AdviceKind `json:"kind"`
	Text string     `json:"text"`
	// Command can be copied and run as it is; "" if there is none.
	Command string `json:"command,omitempty"`
	// Policies are the proposed policies; nil if the advice is about something else.
	Policies *Policies `json:"policies,omitempty"`
	// OfOwner is set if the advice is to change the CronJob that creates the Job.
	OfOwner bool `json:"ofOwner,omitempty"`
	// OfSource is set if the advice is to change what a tool or an owner creates the Job from.
	OfSource bool `json:"-"`
	// OfTemplate is set if it changes the pod template, Elsewhere if the cause is most likely not there.
	OfTemplate bool `json:"-"`
	Elsewhere  bool `json:"-"`
	// Recreates is set if the text says with which change the Job is to be created again.
	Recreates bool `json:"-"`
	// Change is what of the Job has to change, "" if that is unknown.
	Change Change `json:"-"`
	// OfShownLog is set if it is to read a log of which the full explanation has all lines.
	OfShownLog bool `json:"-"`
	// WhatIf is the effect that the Policies would have had; nil if it is unknown, or would have been no gain.
	WhatIf *WhatIf `json:"whatIf,omitempty"`
}

// Policies are fields of a JobSpec.
type Policies struct {
	ActiveDeadlineSeconds *int64                    `json:"activeDeadlineSeconds,omitempty"`
	PodFailurePolicy      *batchv1.PodFailurePolicy `json:"podFailurePolicy,omitempty"`
}

// WhatIf is the effect of other policies, according to a replay of the Job.
type WhatIf struct {
	// Text is a clause: "with a FailJob rule on exit code 42, this Job would have failed after 8s instead of 41m".
	Text string `json:"text"`
	// Condition is the terminal condition that the Job would have had, Complete or Failed, with its Reason.
	Condition string `json:"condition"`
	Reason    string `json:"reason"`
	// Seconds is the duration that the Job would have had, and ActualSeconds its actual duration.
	Seconds       float64 `json:"seconds"`
	ActualSeconds float64 `json:"actualSeconds"`
	// PodSecondsSaved is the reduction of the total run time of all pods; negative if they would have run longer.
	PodSecondsSaved float64 `json:"podSecondsSaved"`
	// PodsEstimated is the number of the PodsStarted whose behavior is an estimate.
	PodsStarted   int `json:"podsStarted"`
	PodsEstimated int `json:"podsEstimated"`
}

// Kubectl returns a command with the namespace at its end.
func Kubectl(namespace, format string, args ...any) string {
	return "kubectl " + fmt.Sprintf(format, args...) + " -n " + ShellWord(namespace)
}

// ShellWord quotes a word for a shell unless it is plain, so that a command can be copied as it is.
func ShellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._/:=@", r)
	}
	if strings.HasPrefix(word, "-") {
		return "NAME" // An owner may be called --server=…, which kubectl would obey.
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
