package explain

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Family is a Job and its retries, as far as they exist.
type Family struct {
	// Root is the name of the first Job; RootGone reports whether that Job was deleted, or replaced by another Job of the
	// same name.
	Root     string `json:"root"`
	RootGone bool   `json:"rootGone,omitempty"`
	// Members are the Jobs, in the order of their attempts.
	Members []FamilyMember `json:"members"`
	// Complete reports whether nothing is missing; CompletedBy is the name of the first Job that is complete, if any.
	Complete    bool   `json:"complete"`
	CompletedBy string `json:"completedBy,omitempty"`
	// RunningIn is the Job of the family that has not finished.
	RunningIn string `json:"runningIn,omitempty"`
	// Missing are the indexes that no Job has completed; MissingCount is the number of missing indexes or completions, nil
	// for a Job without a number of completions.
	Missing      string `json:"missing,omitempty"`
	MissingCount *int32 `json:"missingCount,omitempty"`
	// Text summarizes, in one line without a full stop, whether the family is complete or what is missing.
	Text string `json:"text"`
	// Histories are the histories of the indexes that failed in any of the Jobs, most frequent first.
	Histories []IndexHistory `json:"histories,omitempty"`
}

// FamilyMember is one Job of a Family.
type FamilyMember struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
	// Attempt is the number of the retry, 0 for the first Job.
	Attempt int32 `json:"attempt"`
	// Explained reports whether the Report is about this Job.
	Explained bool `json:"explained,omitempty"`
	// Status, Outcome and Reason are as in Verdict.
	Status  string            `json:"status"`
	Outcome reconcile.Outcome `json:"outcome"`
	Reason  string            `json:"reason,omitempty"`
	// Pending reports whether the creation of the Job was interrupted: it is suspended, runs nothing, and is replaced by the
	// next retry.
	Pending bool `json:"pending,omitempty"`
	// Indexes are the indexes that the Job runs, and Count is the number of these indexes or of completions; nil without a
	// number of completions.
	Indexes string `json:"indexes,omitempty"`
	Count   *int32 `json:"count,omitempty"`
	// Completed and Failed count indexes, or pods of a NonIndexed Job.
	Completed int32 `json:"completed"`
	Failed    int32 `json:"failed"`
	// Cause describes the most frequent failure in words, if pods of the Job still exist; Failure is the same as a value.
	Cause   string         `json:"cause,omitempty"`
	Failure *cause.Failure `json:"failure,omitempty"`
}

// IndexHistory is the history of indexes in a Family. All Indexes have the same history.
type IndexHistory struct {
	Indexes string `json:"indexes"`
	Count   int32  `json:"count"`
	// Runs are sorted by attempt, without the Jobs that did not run these indexes.
	Runs []IndexRun `json:"runs"`
	// Text describes the history in one line, without a full stop.
	Text string `json:"text"`
}

// IndexRun is the outcome of indexes in one Job.
type IndexRun struct {
	Job     string         `json:"job"`
	Outcome RunOutcome     `json:"outcome"`
	Cause   string         `json:"cause,omitempty"`
	Failure *cause.Failure `json:"failure,omitempty"`
}

// RunOutcome is the outcome of an index in one Job.
type RunOutcome string

// The outcomes.
const (
	RunCompleted RunOutcome = "Completed"
	RunFailed    RunOutcome = "Failed"
	RunOpen      RunOutcome = "Open"    // the Job has not finished
	RunStopped   RunOutcome = "Stopped" // the Job ended without a failure of the index: it was stopped, or never ran
)
