package jobspec

// Limits of the API server.
const (
	// MaxIndexes limits parallelism and maxFailedIndexes of an Indexed Job.
	MaxIndexes = 100_000
	// ManyCompletions is the number of completions above which MaxOfMany limits both, if the Job has backoffLimitPerIndex.
	ManyCompletions = 100_000
	MaxOfMany       = 10_000
	// MaxRules limits the rules of podFailurePolicy, those of successPolicy, and the items of onPodConditions.
	MaxRules     = 20
	MaxExitCodes = 255
	// MaxSucceededIndexes is the maximum length of succeededIndexes.
	MaxSucceededIndexes = 64 << 10
)
