package lint

// check looks at one thing. Fields that another check rejects may have any value.
type check func(*review)

// checks are all, in the order of what they look at: metadata, counts, limits, policies, pods.
func checks() []check {
	return []check{
		checkName, checkCronJob,
		checkNotNegative, checkCompletionMode, checkCompletionsMissing, checkNoPods, checkParallelism,
		checkBackoffLimits, checkBackoffLimitPerIndex, checkMaxFailedIndexes, checkMaxFailedIndexesLimits,
		checkActiveDeadline, checkTTL, checkManagedBy,
		checkPodFailurePolicy, checkRules, checkOnExitCodes, checkExitCodeValues, checkOnPodConditions,
		checkExitCodesCovered, checkConditionsCovered, checkIgnoreForEver,
		checkNames, checkNamesUsed,
		checkPodReplacementPolicy, checkSuccessPolicy, checkSuccessRules, checkSuccessRulesCovered,
		checkRestartPolicy, checkContainers, checkSelector,
	}
}
