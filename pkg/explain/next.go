package explain

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	StepBackoffLimit     StepKind = "BackoffLimit"         // Count more failures or restarts (Unit) fail the Job
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
	// Unit is whether a BackoffLimit step counts failures or restarts.
	Unit LimitUnit `json:"unit,omitempty"`
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

// AdviceKind says what a piece of advice is for.
type AdviceKind string

// The kinds.
const (
	AdviceFix    AdviceKind = "Fix"    // resolves what is wrong, or finds out what that is
	AdviceLogs   AdviceKind = "Logs"   // prints logs of failed pods
	AdviceRerun  AdviceKind = "Rerun"  // runs what is missing
	AdvicePolicy AdviceKind = "Policy" // changes a policy of the next such Job
)

// Advice is something that can be done.
type Advice struct {
	Kind AdviceKind `json:"kind"`
	Text string     `json:"text"`
	// Command is one that can be typed as it is; "" if there is none.
	Command string `json:"command,omitempty"`
	// Policies are those that it proposes; nil if it is about something else.
	Policies *Policies `json:"policies,omitempty"`
	// WhatIf is what they would have changed; nil if that is not known, or would have been no gain.
	WhatIf *WhatIf `json:"whatIf,omitempty"`
}

// Policies are fields of a JobSpec.
type Policies struct {
	ActiveDeadlineSeconds *int64                    `json:"activeDeadlineSeconds,omitempty"`
	PodFailurePolicy      *batchv1.PodFailurePolicy `json:"podFailurePolicy,omitempty"`
}

// WhatIf is what other policies would have changed, according to a replay of the Job.
type WhatIf struct {
	// Text is "with a FailJob rule on exit code 42, this Job would have failed after 8s instead of 41m".
	Text string `json:"text"`
	// Condition is how the Job would have ended: Complete or Failed, with its Reason.
	Condition string `json:"condition"`
	Reason    string `json:"reason"`
	// Seconds is how long it would have taken, ActualSeconds how long it took.
	Seconds       float64 `json:"seconds"`
	ActualSeconds float64 `json:"actualSeconds"`
	// PodSecondsSaved is how much less its pods would have run, together; less than 0 if they would have run longer.
	PodSecondsSaved float64 `json:"podSecondsSaved"`
	// PodsEstimated is of how many of its PodsStarted it is an estimate what they would have done.
	PodsStarted   int `json:"podsStarted"`
	PodsEstimated int `json:"podsEstimated"`
}

// ShellWord quotes a word unless it is plain, so that a command can be copied as it is.
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
