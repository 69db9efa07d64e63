package reconcile

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
)

// giveUpPods removes the pods of a Job that ends, or that is deleted, and returns the pods that count as failed.
func giveUpPods(job *jobView, pods *podLists, end outcome, plan *planner) (remaining []*Pod) {
	if end.failing() {
		remaining = failRemaining(job, pods, plan)
	}
	switch {
	case end.stored:
		// They are deleted while they have the finalizer, and only once the interim condition is stored: the result of a
		// deleted pod must not lead to another outcome, or fail an index (SUC-14, BLI-19).
		for _, p := range slices.Concat(pods.active, pods.untracked) {
			plan.delete(p)
		}
	case end.decided():
	case job.deleting:
		// The pods of a Job that is being deleted never count, even if they run (TRK-24). A Job that a finalizer keeps
		// until it ends, ends like any other.
		for _, p := range slices.Concat(pods.active, pods.terminating) {
			_, recorded := job.uncounted[p.UID]
			if p.Finalizer && (p.IsActive() || job.replaceFailedOnly && !recorded && job.inRange(p)) {
				plan.release(ref(p, ifUnchanged)) // A terminating pod has failed otherwise (PRP-05).
			}
		}
	}
	return remaining
}

// failRemaining returns every tracked pod that is not counted yet: in a Job that fails, these pods count as failed,
// whatever the podReplacementPolicy, unless a rule ignores the failure (PRP-16).
func failRemaining(job *jobView, pods *podLists, plan *planner) (remaining []*Pod) {
	known := map[types.UID]bool{}
	for _, p := range slices.Concat(pods.failed, pods.ignored) {
		known[p.UID] = true
	}
	for uid := range job.uncounted {
		known[uid] = true
	}
	left := slices.Concat(pods.active, pods.terminating, pods.unreported)
	slices.SortFunc(left, compareFailures) // What the findings contain has a fixed order.
	for _, p := range left {
		switch {
		case !p.Finalizer || known[p.UID] || !job.inRange(p):
		case !ignoresRemaining(job, p):
			remaining = append(remaining, p)
		default:
			plan.notCounted(p, IgnoredByRule)
			// The pod is released once it is being deleted for a stored reason: it must not keep running without the
			// finalizer, and may still succeed.
			if job.stored.decided() && p.Deleting {
				plan.release(ref(p, ifUnchanged))
			}
		}
	}
	return remaining
}

// ignoresRemaining reports whether a rule ignores a pod that would count as failed because the Job fails while the pod
// runs (PRP-16). No other action applies to a pod that has not failed (PFP-01).
func ignoresRemaining(job *jobView, p *Pod) bool {
	return job.spec.PodFailurePolicy != nil && evaluate(job, p).Action == batchv1.PodFailurePolicyActionIgnore
}
