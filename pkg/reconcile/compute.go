package reconcile

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
)

// Compute decides what to write next for a Job, and why. The package comment describes the duties of the caller.
func Compute(o Observation, c Config) Plan {
	plan, _ := decide(&o, c)
	return plan
}

// decide makes the plan, step by step: each step needs only the values of earlier ones. Operations and findings are
// collected in plan.
func decide(o *Observation, c Config) (Plan, *jobView) {
	// 1. Read the Job. The result is job, which no step changes. Some Jobs need no decision, such as finished ones.
	job, found := readJob(o, c)
	plan := &planner{Plan: Plan{Findings: found}, skip: o.Skip}
	if !needsDecision(job, o, plan) {
		return plan.Plan, job
	}

	// 2. Adopt strays, and disown pods that the selector no longer selects. The results are the selected pods, and
	//    whether pods are still to be adopted or disowned: until then, nothing is created, and the Job does not succeed.
	selected, claiming := claimPods(job, o, plan)

	// 3. Classify the selected pods by their meaning for the Job. The result is pods; the pods in pods.settled need no
	//    record, and are released at once.
	pods := classify(job, o, dateFailures(selected, o.FailedSince))
	plan.Release = slices.DeleteFunc(pods.settled, func(r PodRef) bool { return o.Skip[r.UID] })
	explainClassified(job, o, pods, plan)

	// 4. Apply the podFailurePolicy to the failed pods. The result is verdicts, nil without a policy; it separates the
	//    failures that count from those that a rule ignores.
	verdicts := applyFailurePolicy(job, pods.failed)
	if verdicts != nil {
		plan.Findings.Verdicts = verdicts.list(pods.failed)
		pods.failed, pods.ignored = verdicts.split(pods.failed)
	}

	// 5. Find the indexes that have ended, with a success or with their last failure. The result is ended.
	ended, lastFailures := findEndedIndexes(job, pods, verdicts)
	plan.Findings.IndexFailures = verdicts.list(lastFailures)

	// 6. Look for a reason to end the Job, unless one is stored. The result is end. A Job that succeeds has room in its
	//    status for all failed pods, including pods whose end is not reported yet.
	end := decideOutcome(job, pods, verdicts, ended, claiming, plan)
	if end.succeeding() {
		pods.failed, pods.unreported = slices.Concat(pods.failed, pods.unreported), nil
	}

	// 7. Find the failed pods whose failure count passes to the next pod of their index. The result is waits: these pods
	//    are neither recorded nor released before the next pod exists. Other ignored failures are released.
	var waits replacements
	startsPods := mayStartPods(job, end)
	if startsPods {
		waits = findReplacements(job, pods, verdicts, ended)
	}
	plan.Findings.AwaitReplacement = waits
	releaseIgnored(job, pods, end, waits, plan)

	// 8. Remove the active pods that should not run, and create the pods that should.
	if startsPods {
		missing := removePods(job, pods, ended, plan)
		createPods(job, o, pods, ended, waits, missing, o.HoldCreation || claiming, plan)
	}

	// 9. Complete a Job with enough successes, unless this plan leads to further pods. The result is end, as it is
	//    stored.
	if !end.decided() && !claiming && len(plan.Create) == 0 {
		end = completeJob(job, pods, ended)
	}
	plan.Findings.Outcome = end.finding()

	// 10. Remove the pods of a Job that ends, or that is deleted. The result is remaining, the pods that count as failed
	//     although they have not ended.
	remaining := giveUpPods(job, pods, end, plan)

	// 11. Bound the plan, and remember the evidence for the back-off from the pods to release.
	plan.limit(c.MaxPodChanges)
	if len(plan.Release) > 0 {
		plan.BackoffSeen = backoffRecord(job, pods, nil)
	}

	// 12. Record the pods that have ended in the next status, and count the recorded pods whose finalizer is gone. The
	//     result is ledger.
	countable := slices.DeleteFunc(slices.Clone(pods.failed), waits.has)
	ledger := record(job, pods, ended, countable, remaining)
	ledger.explain(verdicts, plan)

	// 13. Build the next status from these results, and plan to write it if it is worth a write now.
	next := nextStatus(job, pods, end, ledger, claiming, plan)
	if writeStatus(job, pods, next, ledger, plan) {
		plan.Backoff = backoffRecord(job, pods, ledger.newFailures)
	}
	return plan.Plan, job
}

// needsDecision reports whether there is anything to decide. If the pods could not be read, nothing is known about
// them; a Job that this version does not understand is left alone; a finished Job only releases its pods (MGB-11).
func needsDecision(job *jobView, o *Observation, plan *planner) bool {
	switch {
	case o.PodsUnknown:
	case IsFinished(job.object):
		if TrueCondition(job.object, batchv1.JobComplete) != nil {
			plan.Findings.TooManySucceeded = findSurplus(job, job.status.Succeeded)
		}
		for _, p := range o.Pods {
			if p.Finalizer {
				plan.release(ref(p, unconditional))
			}
		}
		plan.limit(job.cfg.MaxPodChanges)
	case !job.knownMode():
		plan.Findings.UnknownMode = *job.spec.CompletionMode
	case plan.Findings.BadRetryIndexes != "":
	default:
		return true
	}
	return false
}

// mayStartPods reports whether the Job continues, so that pods may be replaced and created.
func mayStartPods(job *jobView, end outcome) bool {
	return !end.decided() && !end.successMet && !job.deleting
}
