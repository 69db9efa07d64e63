package model

// Rules are documented differences from the built-in controller; this project has all of
// them. docs/controller.md lists them.
type Rules struct {
	// NamedRules: the reason of a Job that a rule fails names the rule (KEP-4443, D-34).
	NamedRules bool
	// NoHeadOfLine: an index in back-off does not delay those after it (BLI-24, D-14).
	NoHeadOfLine bool
	// StartTimeAtEnd: a suspended Job that ends gets a startTime, without which the API
	// server refuses its end, unless completions are 0 (STV-14, D-39).
	StartTimeAtEnd bool
	// ReplacedStays: a failed pod whose next pod is removed at once may continue waiting for
	// another (BLI-07).
	ReplacedStays bool
	// CountKept: the number of succeeded pods stays as it is where the API server refuses a
	// smaller one (STV-18).
	CountKept bool
	// SettledIsSettled: a pod that was released when its Job was deleted can no longer fail
	// the Job (TRK-12).
	SettledIsSettled bool
}
