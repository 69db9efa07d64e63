package explain

import "github.com/batchjob-dev/kubectl-batchjob/pkg/cause"

// Family is a Job and its retries, as far as they exist.
type Family struct {
	// Root is the name of the first Job; RootGone reports whether it was deleted, or replaced by another of that name.
	Root     string `json:"root"`
	RootGone bool   `json:"rootGone,omitempty"`
	// Members are the Jobs by attempt.
	Members []FamilyMember `json:"members"`
	// Complete reports whether nothing is missing, and CompletedBy names the last Job that is complete, if one alone is.
	Complete    bool   `json:"complete"`
	CompletedBy string `json:"completedBy,omitempty"`
	// RunningIn is the Job of the family that has not finished.
	RunningIn string `json:"runningIn,omitempty"`
	// Missing are the indexes that no Job has completed, MissingCount is how many indexes or completions are missing; nil
	// for a Job without a number of completions.
	Missing      string `json:"missing,omitempty"`
	MissingCount *int32 `json:"missingCount,omitempty"`
	// Text is whether it is complete or what is missing, in one line without a full stop.
	Text string `json:"text"`
	// Histories are those of the indexes that failed in one of the Jobs, the most frequent first.
	Histories []IndexHistory `json:"histories,omitempty"`
}

// FamilyMember is one Job of a Family.
type FamilyMember struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
	// Attempt is which retry it is, 0 for the first Job.
	Attempt int32 `json:"attempt"`
	// Explained reports whether it is the Job of the Report.
	Explained bool `json:"explained,omitempty"`
	// Status, Fate and Reason are as in Verdict.
	Status string `json:"status"`
	Fate   Fate   `json:"fate"`
	Reason string `json:"reason,omitempty"`
	// Pending reports whether its creation was interrupted: it is suspended, runs nothing, and the next retry replaces it.
	Pending bool `json:"pending,omitempty"`
	// Indexes are those that it runs, Count how many indexes or completions these are; nil for no number of completions.
	Indexes string `json:"indexes,omitempty"`
	Count   *int32 `json:"count,omitempty"`
	// Completed and Failed are how many indexes of these, or how many pods of a NonIndexed Job.
	Completed int32 `json:"completed"`
	Failed    int32 `json:"failed"`
	// Cause is the most frequent one of its failures, if its pods are there, and Failure the same as a value.
	Cause   string         `json:"cause,omitempty"`
	Failure *cause.Failure `json:"failure,omitempty"`
}

// IndexHistory is what happened to indexes in a Family: the same to each of them.
type IndexHistory struct {
	Indexes string `json:"indexes"`
	Count   int32  `json:"count"`
	// Runs are by attempt, without the Jobs that did not run these indexes.
	Runs []IndexRun `json:"runs"`
	// Text is what happened, in one line without a full stop.
	Text string `json:"text"`
}

// IndexRun is what happened to indexes in one Job.
type IndexRun struct {
	Job     string         `json:"job"`
	Outcome RunOutcome     `json:"outcome"`
	Cause   string         `json:"cause,omitempty"`
	Failure *cause.Failure `json:"failure,omitempty"`
}

// RunOutcome is how an index ended in one Job.
type RunOutcome string

// The outcomes.
const (
	RunCompleted RunOutcome = "Completed"
	RunFailed    RunOutcome = "Failed"
	RunOpen      RunOutcome = "Open"    // the Job has not finished
	RunStopped   RunOutcome = "Stopped" // the Job ended without a failure of the index: it was stopped, or never ran
)
