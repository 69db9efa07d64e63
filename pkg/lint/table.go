package lint

// check finds one kind of problem. Fields that another check rejects may have any value.
type check func(*review)

// checks returns all checks that do not apply to each rule, in the order of fields: metadata, counts, limits, policies,
// pods.
func checks() []check {
	return []check{
		checkName, checkMetadata, checkFromCluster, checkCronJob, checkSchedule, checkTimeZone, checkCronJobHabits,
		checkNotNegative, checkCompletionMode, checkCompletionsMissing, checkNoPods, checkParallelism,
		checkBackoffLimits, checkBackoffLimitPerIndex, checkMaxFailedIndexes, checkMaxFailedIndexesLimits,
		checkActiveDeadline, checkPodDeadline, checkRetriesFit, checkTTL, checkManagedBy, checkScheduling,
		checkPodFailurePolicy, checkPodReplacementPolicy, checkSuccessPolicy,
		checkRestartPolicy, checkLogLost, checkTemplate, checkSelector, checkTemplateLabels,
		checkWaits, checkNeverEnds, checkIndexUsed,
	}
}

// ruleChecks returns the checks for each rule of podFailurePolicy, or each pair of rules: skipped if there are more
// rules than allowed.
func ruleChecks() []check {
	return []check{
		checkRules, checkOnExitCodes, checkExitCodeValues, checkSidecarsMatch, checkOnPodConditions,
		checkExitCodesCovered, checkConditionsCovered, checkIgnoreForever, checkDisruptions, checkSignalsIgnored,
		checkNames, checkNamesUsed,
	}
}

// successRuleChecks returns the checks for each rule of successPolicy.
func successRuleChecks() []check {
	return []check{checkSuccessRules, checkSuccessRulesCovered}
}
