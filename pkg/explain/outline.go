package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Outline is the explanation of a Job from the Job alone: a row in a list.
type Outline struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// Status is the status that kubectl prints, see Verdict.
	Status  string            `json:"status"`
	Outcome reconcile.Outcome `json:"outcome"`
	// Indexed reports whether completionMode is Indexed.
	Indexed bool `json:"indexed,omitempty"`
	// Completions is nil for a work queue.
	Completions *int32 `json:"completions,omitempty"`
	Parallelism *int32 `json:"parallelism,omitempty"`
	Active      int32  `json:"active"`
	Ready       *int32 `json:"ready,omitempty"`
	Terminating *int32 `json:"terminating,omitempty"`
	Succeeded   int32  `json:"succeeded"`
	Failed      int32  `json:"failed"`
	// UncountedFailed is the number of failed pods that the status has recorded, but not yet in Failed.
	UncountedFailed int32 `json:"uncountedFailed,omitempty"`
	// FailedIndexes is nil when the Job does not track them; FailedIndexCount is the number of indexes in it.
	FailedIndexes    *string `json:"failedIndexes,omitempty"`
	FailedIndexCount int32   `json:"failedIndexCount,omitempty"`
	// Reason is the reason of the condition that decides the Status, "" if none does.
	Reason string `json:"reason,omitempty"`
	// EndedBy, Rule and RuleName are as in End.
	EndedBy  EndedBy `json:"endedBy,omitempty"`
	Rule     *int32  `json:"rule,omitempty"`
	RuleName string  `json:"ruleName,omitempty"`
	// ManagedBy is "" for the built-in controller.
	ManagedBy string `json:"managedBy,omitempty"`
	// Stalled is the problem that blocks the Job, as far as a list can show it; nil if none does.
	Stalled *Stall `json:"stalled,omitempty"`
	// Refused is the reason why some of the Job's pods cannot be created while others run; nil if there is none.
	Refused *Stall `json:"refused,omitempty"`
	// Why explains the failures of the pods, as far as a list can show them; nil if none failed, or if the Job is complete.
	Why *Why `json:"why,omitempty"`
	// WillFail reports whether the Job fails once its other indexes have ended: one has failed, and no successPolicy can make
	// up for it.
	WillFail bool `json:"willFail,omitempty"`
	// Neglected reports whether the Job's controller has not worked on the Job, see IsNeglected.
	Neglected bool         `json:"neglected,omitempty"`
	Created   *metav1.Time `json:"created,omitempty"`
	Started   *metav1.Time `json:"started,omitempty"`
	Finished  *metav1.Time `json:"finished,omitempty"`
	// Owner is the controlling owner of the Job, nil if there is none. Manual is set if a user created the Job from the template
	// of this CronJob.
	Owner  *Owner `json:"owner,omitempty"`
	Manual bool   `json:"manual,omitempty"`
	// Retry identifies the Job that this one retries; nil if it is not a retry.
	Retry *RetryOf `json:"retry,omitempty"`
}

// RetryOf links a retry to the first Job of its family.
type RetryOf struct {
	// Name and UID identify the first Job; Attempt counts the retries from 1.
	Name    string `json:"name"`
	UID     string `json:"uid"`
	Attempt int32  `json:"attempt"`
	// Rerun is the number of indexes that the Job runs, and Completed the number of these that completed; Rerun is 0 if the
	// Job runs all indexes.
	Rerun     int32 `json:"rerun,omitempty"`
	Completed int32 `json:"completed,omitempty"`
}

// Done returns the successes so far and the total, both without the indexes that a retry does not run. total is nil for a Job
// without completions.
func (o *Outline) Done() (done int32, total *int32) {
	if r := o.Retry; r != nil && r.Rerun > 0 {
		return r.Completed, &r.Rerun
	}
	return o.Succeeded, o.Completions
}

// Failures returns the number of failed pods: as many as the pods show, without those that the Job's controller stopped, or,
// without a Why, as many as the status counts or has recorded.
func (o *Outline) Failures() int32 {
	if o.Why != nil {
		return o.Why.Failed
	}
	return o.Failed + o.UncountedFailed
}

// HasProblem reports whether the Job has failed, is going to fail, is stalled, or lacks pods that cannot be created.
func (o *Outline) HasProblem() bool {
	return o.Outcome.Fails() || o.WillFail || o.Stalled != nil || o.Refused != nil
}

// Stall is the problem that blocks a Job, or some of its pods, in a list.
type Stall struct {
	// Kind is the kind of the Problem.
	Kind ProblemKind `json:"kind"`
	// Reason is a word for a column; Text is the sentence of the Problem.
	Reason string `json:"reason"`
	Text   string `json:"text"`
	// Brief is a text for a narrow column, "" if the Kind is as informative.
	Brief string       `json:"brief,omitempty"`
	Since *metav1.Time `json:"since,omitempty"`
	// MayContinue is set if the Job may continue without a change: it waits for its turn or for room on nodes or in a quota,
	// an init container runs, or a limit ends it.
	MayContinue bool `json:"mayContinue,omitempty"`
	// Unscheduled is set if no node takes the Job's pods, or a quota has no room for them.
	Unscheduled bool `json:"-"`
}

// Why explains the failures of a Job's pods, in a list.
type Why struct {
	// Text has at most 30 characters: "exit 1 ×3".
	Text string `json:"text"`
	// Causes are the two most frequent causes, without pods that the Job's controller stopped; there is none
	// if no pod failed, and the status counts pods that it stopped.
	Causes []Cause `json:"causes,omitempty"`
	// Failed is the number of failed pods, without those that the Job's controller stopped. It may be more than the status
	// counts: a failed pod of an index is counted once the index has its next pod, and an ignored failure never.
	Failed int32 `json:"failed"`
	// Partial reports whether only some of the failed pods were read, so that the counts of the Causes are too low.
	Partial bool `json:"partial,omitempty"`
	// RetryAt is the time at which a back-off ends and the next pod is created, nil if there is no back-off.
	RetryAt *metav1.Time `json:"retryAt,omitempty"`
}
