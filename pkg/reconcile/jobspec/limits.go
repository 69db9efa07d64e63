package jobspec

// Limits of the API server.
const (
	// MaxIndexes limits parallelism and maxFailedIndexes of an Indexed Job. MaxOfMany limits them if the Job has backoffLimitPerIndex
	// and more than ManyCompletions.
	MaxIndexes, ManyCompletions, MaxOfMany = 100_000, 100_000, 10_000
	// MaxRules limits the rules of podFailurePolicy, those of successPolicy, and the items of onPodConditions.
	MaxRules     = 20
	MaxExitCodes = 255
	// MaxSucceededIndexes is the maximum length of succeededIndexes.
	MaxSucceededIndexes = 64 << 10
)
