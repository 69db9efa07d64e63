package lint

// check checks one thing. Fields that another check rejects may have any value.
type check func(*review)

// checks are all checks that are not for each rule, in the order of fields: metadata, counts, limits, policies, pods.
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

// ruleChecks are for each rule of podFailurePolicy, some for each pair of rules: skipped if there are more rules
// than allowed.
func ruleChecks() []check {
	return []check{
		checkRules, checkOnExitCodes, checkExitCodeValues, checkSidecarsMatch, checkOnPodConditions,
		checkExitCodesCovered, checkConditionsCovered, checkIgnoreForever, checkDisruptions, checkSignalsIgnored,
		checkNames, checkNamesUsed,
	}
}

// successRuleChecks do the same for successPolicy.
func successRuleChecks() []check {
	return []check{checkSuccessRules, checkSuccessRulesCovered}
}
