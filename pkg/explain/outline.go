package explain

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Outline is what can be said about a Job from the Job alone: a row in a list.
type Outline struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// Status is kubectl's word, see Verdict.
	Status string `json:"status"`
	Fate   Fate   `json:"fate"`
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
	// FailedIndexes is nil when the Job does not track them; FailedIndexCount is the size of
	// the list.
	FailedIndexes    *string `json:"failedIndexes,omitempty"`
	FailedIndexCount int32   `json:"failedIndexCount,omitempty"`
	// Reason is that of the condition that decides the Status, "" if none does.
	Reason string `json:"reason,omitempty"`
	// Rule and RuleName are the rule of the podFailurePolicy behind the reason, see Verdict.
	Rule     *int32 `json:"rule,omitempty"`
	RuleName string `json:"ruleName,omitempty"`
	// ManagedBy is "" for the built-in controller.
	ManagedBy string `json:"managedBy,omitempty"`
	// Stalled is what blocks the Job as far as a list can know, nil if nothing does.
	Stalled *Stall `json:"stalled,omitempty"`
	// Why is what its pods failed of as far as a list can know, nil if none failed, or the Job is complete.
	Why *Why `json:"why,omitempty"`
	// WillFail reports whether the Job fails once its other indexes have ended: one has failed, and
	// there is no successPolicy that could make up for it.
	WillFail bool `json:"willFail,omitempty"`
	// Neglected reports whether the Job's controller has not worked on it, see IsNeglected.
	Neglected bool         `json:"neglected,omitempty"`
	Created   *metav1.Time `json:"created,omitempty"`
	Started   *metav1.Time `json:"started,omitempty"`
	Finished  *metav1.Time `json:"finished,omitempty"`
	// Retry is what the Job retries, nil for none.
	Retry *RetryOf `json:"retry,omitempty"`
}

// RetryOf ties a retry to the first Job of its family.
type RetryOf struct {
	// Name and UID are those of the first Job, Attempt counts the retries from 1.
	Name    string `json:"name"`
	UID     string `json:"uid"`
	Attempt int32  `json:"attempt"`
	// Rerun is how many indexes the Job runs, and Completed how many of these completed; 0 if it runs all.
	Rerun     int32 `json:"rerun,omitempty"`
	Completed int32 `json:"completed,omitempty"`
}

// Done is how much has succeeded, of how much: of a retry, what it runs. total is nil for a Job without completions.
func (o *Outline) Done() (done int32, total *int32) {
	if r := o.Retry; r != nil && r.Rerun > 0 {
		return r.Completed, &r.Rerun
	}
	return o.Succeeded, o.Completions
}

// HasProblem reports whether the Job has failed, is going to fail, or is stalled.
func (o *Outline) HasProblem() bool {
	return o.Fate == FateFailed || o.Fate == FateFailing || o.WillFail || o.Stalled != nil
}

// Stall is what blocks a Job, in a list.
type Stall struct {
	// Kind is that of the Problem.
	Kind ProblemKind `json:"kind"`
	// Reason is a word for a column, Text the sentence of the Problem.
	Reason string `json:"reason"`
	Text   string `json:"text"`
	// Brief is for a narrow column, "" if the Kind says as much.
	Brief string       `json:"brief,omitempty"`
	Since *metav1.Time `json:"since,omitempty"`
	// MayContinue is set if the Job may continue although nobody changes anything: it waits for
	// its turn or for room on nodes or in a quota, an init container runs, or a limit ends it.
	MayContinue bool `json:"mayContinue,omitempty"`
}

// Why is what the pods of a Job failed of, in a list.
type Why struct {
	// Text has 30 characters at most: "exit 1 ×3".
	Text string `json:"text"`
	// Causes are the two most frequent ones, without pods that the Job's controller stopped; there is at least one.
	Causes []Cause `json:"causes"`
	// Partial reports that only some of the failed pods were read, so that the counts of the Causes are too low.
	Partial bool `json:"partial,omitempty"`
	// RetryAt is when the next pod is created, nil if no back-off holds it.
	RetryAt *metav1.Time `json:"retryAt,omitempty"`
}
