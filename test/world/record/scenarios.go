package main

import "slices"

// scenarios returns all scenarios, in the order of the table.
func scenarios() []scenario {
	return slices.Concat(endings(), policyEndings(), takenAway(), playedEndings(), owned(), successes(), interims(), ongoing(), stalls(), refusals(), startProblems(), stuckPods())
}
