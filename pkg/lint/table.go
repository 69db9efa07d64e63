package lint

// check looks at one thing. Fields that another check rejects may have any value.
type check func(*review)

// checks are all that do not look at each rule, in the order of what they look at: metadata, counts, limits, policies,
// pods.
func checks() []check {
	return []check{
		checkName, checkCronJob, checkSchedule, checkTimeZone,
		checkNotNegative, checkCompletionMode, checkCompletionsMissing, checkNoPods, checkParallelism,
		checkBackoffLimits, checkBackoffLimitPerIndex, checkMaxFailedIndexes, checkMaxFailedIndexesLimits,
		checkActiveDeadline, checkTTL, checkManagedBy, checkScheduling,
		checkPodFailurePolicy, checkPodReplacementPolicy, checkSuccessPolicy,
		checkRestartPolicy, checkContainers, checkSelector, checkTemplateLabels,
	}
}

// ruleChecks look at each rule of podFailurePolicy, some at each pair of rules: not if there are more than allowed.
func ruleChecks() []check {
	return []check{
		checkRules, checkOnExitCodes, checkExitCodeValues, checkOnPodConditions,
		checkExitCodesCovered, checkConditionsCovered, checkIgnoreForEver, checkDisruptions,
		checkNames, checkNamesUsed,
	}
}

// successRuleChecks do the same for successPolicy.
func successRuleChecks() []check {
	return []check{checkSuccessRules, checkSuccessRulesCovered}
}
