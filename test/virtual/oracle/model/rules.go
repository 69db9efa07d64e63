package model

// Rules are the documented differences from the built-in controller. This project implements all of them;
// docs/controller.md lists them.
type Rules struct {
	// NamedRules: the reason of a Job that a rule failed contains the rule's name (KEP-4443, D-34).
	NamedRules bool
	// NoHeadOfLine: an index that has failed more than three times does not delay the indexes after it (BLI-24, D-14).
	NoHeadOfLine bool
	// StartTimeAtEnd: a suspended Job that ends gets a startTime, without which the API server rejects its terminal
	// condition, unless completions are 0 (STV-14, D-39).
	StartTimeAtEnd bool
	// DeletedIsNotResumed: a suspended Job that is resumed while it is being deleted gets no startTime (JOB-27).
	DeletedIsNotResumed bool
	// ReplacedStays: a failed pod whose replacement is removed at once may continue to wait for another replacement
	// (BLI-07).
	ReplacedStays bool
	// CountKept: the number of succeeded pods is kept where the API server rejects a smaller one (STV-18).
	CountKept bool
	// SettledIsSettled: a pod that was released when its Job was deleted can no longer fail
	// the Job (TRK-12).
	SettledIsSettled bool
}
