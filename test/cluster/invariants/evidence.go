package invariants

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

// evidence checks S3 and S6 for the changes of a status: every recorded pod ended as recorded, and every completed or
// failed index has a pod that accounts for it. With S1 and S2 the counters of a finished Job are then exact. before
// holds the versions that the writer may have known. The indexes that a retry leaves out count as completed from its
// creation.
func (c *checker) evidence(l *ledger, old *batchv1.Job, before []*batchv1.Job) {
	job := l.job
	if isForged(job) {
		return
	}
	for _, uid := range rules.Added(history.UncountedSucceeded(&old.Status), history.UncountedSucceeded(&job.Status)) {
		if pod := l.pods[uid]; pod == nil || !pod.succeeded {
			c.violate(job, "S3", "%s is recorded as succeeded, and did not succeed", c.name(uid))
		}
	}
	for _, uid := range rules.Added(history.UncountedFailed(&old.Status), history.UncountedFailed(&job.Status)) {
		pod := l.pods[uid]
		failure := func(known *batchv1.Job) bool { return pod.failure(known) }
		switch {
		case pod == nil:
			c.violate(job, "S3", "%s is recorded as failed, and no pod of the Job", c.name(uid))
		case history.Is(job, batchv1.JobFailureTarget): // Every remaining pod counts (PRP-16).
		case !failure(job) && !slices.ContainsFunc(before, failure):
			c.violate(job, "S3", "pod %s is recorded as failed, and did not fail, or a rule ignores that", pod.pod.Name)
		}
	}
	completedNow := rules.Completed(&job.Status).Difference(rules.Completed(&old.Status)).Difference(rules.LeftOut(job))
	c.indexEvidence(l, completedNow, "are completed", func(pod *podHistory) bool { return pod.succeeded })
	failedNow := rules.Failed(&job.Status).Difference(rules.Failed(&old.Status))
	c.indexEvidence(l, failedNow, "have failed", func(pod *podHistory) bool {
		fails := func(version *corev1.Pod) bool { return rules.IsLastFailure(&job.Spec, version, failsPerIndex(job)) }
		return pod.failure(job) && (fails(pod.pod) || slices.ContainsFunc(pod.failures, fails))
	})
}

func (c *checker) indexEvidence(l *ledger, indexes indexset.Set, what string, made func(*podHistory) bool) {
	if indexes.IsEmpty() {
		return
	}
	found := []int32{}
	for _, pod := range l.pods {
		if made(pod) {
			found = append(found, history.IndexOf(pod.pod))
		}
	}
	if groundless := indexes.Difference(indexset.Of(found...)); !groundless.IsEmpty() {
		c.violate(l.job, "S6", "indexes %.100s %s, and no pod made them so", groundless, what)
	}
}

// isForged reports whether the status was written by a client other than a controller or the verb retry: its contents
// are then not a controller's.
func isForged(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.ManagedFields, func(f metav1.ManagedFieldsEntry) bool {
		return f.Subresource == "status" && f.Manager != ourManager && f.Manager != builtInManager && f.Manager != retryManager
	})
}

// indexes checks S6: an index stays completed as long as it is within the Job's completions.
func (c *checker) indexes(l *ledger, old *batchv1.Job) {
	if lost := rules.LostIndexes(old, l.job); !lost.IsEmpty() {
		c.violate(l.job, "S6", "completed indexes %v are gone", lost)
	}
}
