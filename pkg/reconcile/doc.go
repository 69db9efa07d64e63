// Package reconcile is the pure decision core of the Job controller: what a Job,
// its pods and the time ask to be written next, and why.
//
//	Observation ──► Compute ──► Plan (what to write) + Findings (why)
//
// # What Compute promises
//
// It does no I/O, reads no clock, starts no goroutine, keeps no state and changes
// nothing it is given. The same observation gives the same plan, whatever the
// order of the pods.
//
// # What the caller must do
//
//  1. Observe: a Job, all pods it controls, and the time. The pods must be at
//     least as new as the Job's status, and both must show the caller's own
//     writes.
//  2. Apply the whole Plan. Its operations are independent: any order, in
//     parallel, and any of them may fail. Status is written with the
//     resourceVersion of the observed Job; operations on pods with their UID
//     (and PodRef.ResourceVersion, where it is set), and after another read of
//     the Job where PodRef.OutOfRange is set. Status may be left out where
//     Merge is set.
//  3. Remember Plan.Backoff once Plan.Status is stored, and then
//     PodRef.IgnoredFailure of each pod that was let go.
//  4. Observe again, and call Compute again, until the plan is empty. Then
//     wait for a change, or for Plan.RequeueAfter.
//
// # What Findings are
//
// Findings has a field for each kind of reason, with the evidence that a decision
// rests on. What the plan or the status says already is not repeated. Review has more
// of them, for explanations: the verdict on failed pods that are counted, and the
// progress of success criteria, of finished Jobs too.
//
// # Why a crash needs no special case
//
// A plan is one stage. Protocols that take several writes are not kept in
// memory: every operation is justified by what the API server already stores.
//
//   - A finished pod (KEP-2307): its UID goes to status.uncountedTerminatedPods,
//     or its index to status.completedIndexes. Only when that is stored, its
//     tracking finalizer goes. Only when that is gone, its UID moves into the
//     counters.
//   - A pod that is too many (scale-down, suspend, duplicate index): its
//     finalizer goes, on condition that the pod has not changed meanwhile. An
//     active pod without the finalizer is deleted. It never counts as failed.
//   - A failed pod whose index will be retried (KEP-3850): it is neither recorded
//     nor let go before the index has its next pod, which carries the failure
//     count on in an annotation.
//   - A failure that a rule ignores (KEP-3329): nothing is stored; the finalizer
//     goes at once, or when the index has its next pod.
//   - The end of a Job (KEP-3939, KEP-3998, KEP-4368): FailureTarget or
//     SuccessCriteriaMet is stored, with everything that led to it. Then the
//     remaining pods are deleted with their finalizer on, and counted. When the
//     interim condition is stored, nothing runs, and nothing is uncounted, Failed
//     or Complete follows, with the same reason and message.
//
// Whoever starts over after any of these writes sees a legal state, and goes on.
//
// # Cost
//
// Compute is linear in the number of pods, apart from sorting the pods it acts
// on. Index sets cost their intervals (package indexset).
package reconcile
