// Package reconcile is the pure decision core of the Job controller: from a Job, its pods and the time, it decides what
// to write next, and why.
//
//	Observation ──► Compute ──► Plan (what to write) + Findings (why)
//
// # What Compute promises
//
// It does no I/O, reads no clock, starts no goroutine, keeps no state and does not change its input. The same
// observation gives the same plan, whatever the order of the pods.
//
// # What the caller must do
//
// It repeats this for one Job:
//
//		for {
//			o := observe()                                  // 1. the Job, its pods, and the time
//			o.Backoff, o.Skip, o.HoldCreation = record, failed, creationFailed
//			o.FailedSince = seenFailing                     // 3. when the watch showed each failure
//			plan := reconcile.Compute(o, config)
//			if !plan.Urgent && (plan.Merge || wroteStatusLately()) {
//				plan.Status = nil                           // 2. a later status reports these changes, too
//			}
//			if plan.IsEmpty() {
//				waitForChange(plan.RequeueAfter)            // for 0, until something changes, or a status is due
//				failed, creationFailed = map[types.UID]bool{}, false
//				continue
//			}
//
//			if !plan.BackoffSeen.IsZero() {
//				record = plan.BackoffSeen                   // 3. before pods are released
//			}
//			for _, pod := range plan.Release {              // 2. and so on for Create, Delete, Adopt and Disown
//				if err := removeFinalizer(pod); err != nil {
//					failed[pod.UID] = true
//				} else if at := pod.IgnoredFailure; !at.IsZero() {
//					record = record.Failed(backoff.Failure{Pod: pod.UID, At: at})
//				}
//			}
//			if plan.Status != nil {
//				if err := updateStatus(o.Job, plan.Status); err == nil {
//					record = record.Merge(plan.Backoff)     // 3. once the status is stored
//				}
//			}
//		}
//
//	 1. Observe: a Job, all pods it controls, and the time. The pods must be at
//	    least as new as the Job's status, and both must show the caller's own
//	    writes.
//	 2. Apply the whole Plan. Its operations are independent: any order, in
//	    parallel, and any of them may fail. Status is written with the
//	    resourceVersion of the observed Job; operations on pods with their UID
//	    (and PodRef.ResourceVersion, where it is set), and after another read of
//	    the Job where PodRef.OutOfRange is set. Unless Urgent is set, Status may
//	    wait for changes that come soon, and is left out where Merge is set.
//	 3. Remember Plan.BackoffSeen before pods are released, Plan.Backoff once
//	    Plan.Status is stored, and PodRef.IgnoredFailure of each pod that was
//	    released. Remember when each failure was first seen, for
//	    Observation.FailedSince.
//	 4. Observe again, and call Compute again, until the plan is empty. Then
//	    wait for a change, or for Plan.RequeueAfter.
//
// # What Findings are
//
// Findings has a field for each kind of reason, with the evidence for a decision. It does not repeat the contents of
// the plan or the status. Review finds more, for explanations: the verdict on failed pods that are already counted, and
// the progress of the successPolicy, also of finished Jobs.
//
// # Why a crash needs no special case
//
// A plan is one stage. Protocols that take several writes are not kept in memory: the state stored in the API server
// justifies every operation.
//
//   - A finished pod (KEP-2307): its UID goes to status.uncountedTerminatedPods, or
//     its index to status.completedIndexes. Its tracking finalizer is removed only
//     once that is stored. Its UID moves into the counters only once the finalizer is
//     gone.
//   - An excess pod (scale-down, suspend, duplicate index): its finalizer is removed,
//     on condition that the pod has not changed meanwhile. An active pod without the
//     finalizer is deleted. It never counts as failed.
//   - A failed pod whose index will be retried (KEP-3850): it is neither recorded nor released before the next pod of
//     the index exists, which carries the failure count in an annotation.
//   - A failure that a rule ignores (KEP-3329): nothing is stored; the finalizer is removed at once, or when the next
//     pod of the index exists.
//   - The end of a Job (KEP-3939, KEP-3998, KEP-4368): FailureTarget or SuccessCriteriaMet is stored, with everything
//     that led to it. Then the remaining pods are deleted while they have the finalizer, and counted. Once nothing runs
//     and nothing is uncounted, Failed or Complete follows, with the same reason and message.
//
// A controller that restarts after any of these writes sees a valid state and continues.
//
// # Cost
//
// Compute is linear in the number of pods, apart from sorting the pods it acts on.
// Index sets cost O(intervals) (package indexset).
package reconcile
