package invariants

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// created checks S5, S6 and S9 when a pod is created, and PRP-24: under
// podReplacementPolicy Failed, pods that have not ended count, and occupy their
// index.
func (c *checker) created(l *ledger, pod *corev1.Pod) {
	job := l.job
	if !history.IsTracked(pod) {
		c.violate(job, "TRK-01", "pod %s is created without the finalizer", pod.Name)
	}
	if c.excuses.Late.Has(pod.UID) {
		return
	}
	if history.IsDecided(job) || history.IsFinished(job) {
		c.violate(job, "S5", "pod %s is created, and the Job's outcome is decided", pod.Name)
	}
	if !slices.ContainsFunc(l.known, func(job *batchv1.Job) bool { return !ptr.Deref(job.Spec.Suspend, false) }) {
		c.violate(job, "S9", "pod %s is created in a suspended Job", pod.Name)
	}
	running, rivals := l.running(history.IndexOf(pod))
	if limit := l.bound(); running > limit {
		c.violate(job, "S5", "pod %s is created: %d pods run, and %d may", pod.Name, running, limit)
	}
	if history.IsIndexed(job) && rivals > 1 {
		c.violate(job, "S6", "pod %s is created: %d pods run for index %d", pod.Name, rivals, history.IndexOf(pod))
	}
}

// running returns how many pods of the Job are running, and how many of an index.
func (l *ledger) running(index int32) (all, ofIndex int32) {
	for _, p := range l.pods {
		takesRoom := history.IsActive(p.pod) || history.IsTerminating(p.pod) && replacesFailedOnly(l.job)
		if !p.isOf(l.job) || !takesRoom {
			continue
		}
		all++
		if history.IndexOf(p.pod) == index {
			ofIndex++
		}
	}
	return all, ofIndex
}

// bound returns how many pods may run, by any version that the controller may know.
func (l *ledger) bound() (limit int32) {
	for _, job := range l.known {
		n := ptr.Deref(job.Spec.Parallelism, 1)
		if job.Spec.Completions != nil {
			n = min(n, *job.Spec.Completions-l.succeeded(job))
		}
		limit = max(limit, n)
	}
	return limit
}

// succeeded returns the number of completions, recorded or not. A success that was
// recorded as a failure before does not count.
func (l *ledger) succeeded(job *batchv1.Job) int32 {
	indexes, pods := map[int32]bool{}, int32(0)
	for uid, pod := range l.ended {
		if pod.Status.Phase == corev1.PodSucceeded && history.InRange(job, pod) && !l.failed[uid] {
			indexes[history.IndexOf(pod)] = true
			pods++
		}
	}
	if history.IsIndexed(job) {
		return int32(len(indexes))
	}
	return pods
}
